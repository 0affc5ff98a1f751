"""One task of a cluster whose model_dir is on a remote store: `cluster_task.py MODEL_DIR STEPS`.

The chief appends "time step" to the file `steps` of its working directory after each step, which
also writes an event. Each writes its process number to `number`, and `evaluates` when it evaluates.
"""

import json
import os
import sys
import time

import tensorflow as tf

import estimator_train as est

MODEL_DIR, STEPS = sys.argv[1], int(sys.argv[2])
STEP_SECS = 0.05


class NoteStepsHook(est.SessionRunHook):
    """Hook that notes when each step has ended and its event is flushed."""

    def begin(self):
        self.global_step = tf.compat.v1.train.get_global_step()

    def after_run(self, run_context, run_values):
        step = int(run_context.session.run(self.global_step))
        with open("steps", "a") as file:
            file.write(f"{time.time()} {step}\n")
        time.sleep(STEP_SECS)


def input_fn():
    data = {"x": [[1.0], [2.0]]}, [[2.0], [4.0]]
    return tf.data.Dataset.from_tensors(data).repeat()


def evaluate_input_fn():
    open("evaluates", "w").close()  # Signals are handled.
    return input_fn().take(2)


with open("unfinished", "w") as file:
    file.write(str(os.getpid()))
os.rename("unfinished", "number")
is_evaluator = json.loads(os.environ["TF_CONFIG"])["task"]["type"] == "evaluator"
config = est.RunConfig(
    model_dir=MODEL_DIR,
    train_distribute=None if is_evaluator else tf.distribute.MultiWorkerMirroredStrategy(),
    save_checkpoints_steps=20,
    save_summary_steps=1,
    log_step_count_steps=None,
    keep_checkpoint_max=2,
    keep_best=("loss", "min", 1),
    preemption=True,
)
estimator = est.LinearRegressor([tf.feature_column.numeric_column("x")], config=config)
hooks = [NoteStepsHook()] if config.is_chief else []
est.train_and_evaluate(
    estimator,
    est.TrainSpec(input_fn, max_steps=STEPS, hooks=hooks),
    est.EvalSpec(evaluate_input_fn, steps=None, start_delay_secs=0, throttle_secs=1),
)
