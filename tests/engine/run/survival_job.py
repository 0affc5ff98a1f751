"""A training that tests start in a separate process: `survival_job.py MODEL_DIR KEY=VALUE...`."""

import resource
import shutil
import sys
import time

import numpy as np
import tensorflow as tf

import estimator_train as est


def model_fn(features, labels, mode):
    w = tf.compat.v1.get_variable("w", [3, 1], initializer=tf.compat.v1.zeros_initializer())
    loss = tf.reduce_mean((features @ w - labels) ** 2)
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.01).minimize(loss, step)
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


class Say(est.SessionRunHook):
    """Prints each step after the first when it ends, so that a test can follow."""

    def after_run(self, run_context, run_values):
        print("step", flush=True)
        time.sleep(settings.get("step_secs", 0.0))


def wait_for_first_checkpoint():
    """Waits for the last file of the checkpoint of step 0, which a thread writes."""
    while not tf.io.gfile.exists(f"{model_dir}/model.ckpt-0.meta"):
        time.sleep(0.01)


class Fill(est.SessionRunHook):
    """After the third step and the first checkpoint, no file takes more than 100 bytes."""

    steps = 0

    def after_run(self, run_context, run_values):
        self.steps += 1
        if self.steps == 3:
            wait_for_first_checkpoint()
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))


class Vanish(est.SessionRunHook):
    """Removes the directory of the model after the third step and the first checkpoint."""

    steps = 0

    def after_run(self, run_context, run_values):
        self.steps += 1
        if self.steps == 3:
            wait_for_first_checkpoint()
            shutil.rmtree(model_dir)


def input_fn():
    x = np.random.RandomState(0).randn(8, 3).astype(np.float32)
    return tf.data.Dataset.from_tensors((x, x[:, :1])).repeat()


def slow_input_fn():
    def hang(step, x, y):
        def wait():
            time.sleep(600)
            return np.int64(0)

        waited = tf.cond(step < 5, lambda: step, lambda: tf.py_function(wait, [], tf.int64))
        with tf.control_dependencies([waited]):
            return tf.identity(x), y

    numbered = tf.data.Dataset.zip((tf.data.Dataset.range(10**6), input_fn()))
    return numbered.map(lambda step, xy: hang(step, *xy))


settings = {}
if __name__ == "__main__":
    model_dir, *pairs = sys.argv[1:]
    settings = {key: float(value) for key, value in (pair.split("=") for pair in pairs)}
    preemption = est.Preemption(grace_secs=settings.get("grace_secs"))
    config = est.RunConfig(
        model_dir,
        save_checkpoints_steps=int(settings.get("every", 10**6)),
        **({"save_summary_steps": 1, "log_step_count_steps": 1} if settings.get("fill") else {}),
        checkpoint_mode="sync" if settings.get("sync") else "async",
        preemption=preemption if settings.get("preemption", 1) else None,
        step_timeout_secs=settings.get("timeout"),
        allow_shared_model_dir=False,
    )
    hooks = [] if settings.get("loops") else [Say()]
    hooks += [Fill()] if settings.get("fill") else []
    hooks += [Vanish()] if settings.get("vanish") else []
    source = slow_input_fn if settings.get("hang") else input_fn
    print("ready", flush=True)
    est.Estimator(model_fn, config=config).train(
        source, hooks, max_steps=int(settings.get("max_steps", 10**9))
    )
    print("done", flush=True)
