"""A train_and_evaluate job that is ended at random moments and started again, as a program.

`python killed_job.py DIRECTORY SEED KILL|TERM` prints as JSON what became of it. TensorFlow is
imported once; each start of the job is a fork, which knows nothing of those before but the model
directory.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import estimator_train as et
from estimator_train.preemption import watch
from estimator_train.training.exporters import FinalExporter, LatestExporter
from estimator_train.training.specs import EvalSpec, TrainSpec
from estimator_train.training.train_and_evaluate import train_and_evaluate

tf1 = tf.compat.v1
MAX_STEPS = 220
KILLS = 10
SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM}
# Longer than a checkpoint, an evaluation and an export after it take.
MOMENTS_SECS = 0.15
START_SECS = 0.8


def data(seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """512 rows of 4 features, and a linear function of them with noise."""
    generator = np.random.RandomState(seed)
    x = generator.standard_normal([512, 4]).astype(np.float32)
    y = x @ np.array([1.0, -2.0, 3.0, 0.5], np.float32) + generator.standard_normal(512)
    return {"x": x}, y.astype(np.float32)


def train_input() -> tf.data.Dataset:
    dataset = tf.data.Dataset.from_tensor_slices(data(1))
    return dataset.shuffle(512).repeat().batch(16)


def eval_input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(data(2)).batch(128)


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    weight = tf1.get_variable("weight", [4, 1], initializer=tf1.zeros_initializer())
    score = tf.matmul(features["x"], weight)[:, 0]
    if mode == et.ModeKeys.PREDICT:
        return et.EstimatorSpec(mode, predictions={"score": score})
    loss = tf.reduce_mean(tf.square(score - labels))
    optimizer = tf1.train.AdamOptimizer(0.03)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return et.EstimatorSpec(mode, {"score": score}, loss, train_op)


def receiver() -> Any:
    x = {"x": tf1.placeholder(tf.float32, [None, 4], name="x")}
    return et.export.ServingInputReceiver(x, x)


class EndAfter(tf1.train.SessionRunHook):
    """Sends this process a signal some seconds after a global step."""

    def __init__(self, step: int, secs: float, number: int) -> None:
        self._step = step
        self._secs = secs
        self._number = number

    def steps_until_due(self, global_step: int) -> int | None:
        return self._step - global_step if self._step > global_step else None

    def begin(self) -> None:
        self._global_step = tf1.train.get_global_step()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_context.session.run(self._global_step) >= self._step:
            end_after(self._secs, self._number)
            self._step = MAX_STEPS + 1


class CountSteps(tf1.train.SessionRunHook):
    """Adds up the steps of all starts in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def steps_until_due(self, global_step: int) -> None:
        pass

    def after_loop(self, steps: int, loss: Any) -> None:
        with self._path.open("a") as file:
            file.write("1" * steps)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.after_loop(1, None)


def end_after(secs: float, number: int) -> None:
    timer = threading.Timer(secs, os.kill, (os.getpid(), number))
    timer.daemon = True
    timer.start()


def train(model_dir: Path, hooks: Any = (), exports: bool = False) -> dict[str, float]:
    """Runs the job from wherever it stands; returns its last metrics."""
    config = et.RunConfig(save_checkpoints_steps=10, keep_checkpoint_max=2, preemption=True)
    estimator = et.Estimator(model_fn, model_dir, config)
    exporters = [
        LatestExporter("latest", receiver, exports_to_keep=2),
        FinalExporter("final", receiver),
    ]
    metrics, _ = train_and_evaluate(
        estimator,
        TrainSpec(train_input, max_steps=MAX_STEPS, hooks=hooks),
        EvalSpec(
            eval_input,
            throttle_secs=0.1 if exports else 600,
            exporters=exporters if exports else (),
        ),
    )
    return {name: float(value) for name, value in metrics.items()}


def read_all(model_dir: Path) -> int:
    """Reads everything that a reader may find complete; returns the latest global step."""
    for export in model_dir.glob("export/*/" + "[0-9]" * 10):
        saved_model_pb2.SavedModel.FromString((export / "saved_model.pb").read_bytes())
        values_of(export / "variables" / "variables")
    path = tf.train.latest_checkpoint(model_dir)
    if path is None:
        return 0
    return int(values_of(path)["global_step"])


def values_of(checkpoint: Path | str) -> dict[str, np.ndarray]:
    reader = tf.train.load_checkpoint(str(checkpoint))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def in_a_fork(function: Any) -> Any:
    """What a function returns in another process; None if that was killed, its code if it saved."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        os.close(reader)
        try:
            with os.fdopen(writer, "w") as pipe, watch(et.Preemption()):
                json.dump(function(), pipe)
        except et.Preempted as preempted:
            os._exit(int(preempted.code))
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status == -signal.SIGKILL:
        return None
    if status == 143:
        return status
    if status:
        raise RuntimeError(f"a start of the job failed with exit code {status}")
    return json.loads(answer)


def start(model_dir: Path, number: int, moments: random.Random, ended_by: int) -> Any:
    """Starts the job for the time of that number, to be ended unless that was the last."""
    hooks: list[Any] = [CountSteps(model_dir.with_suffix(".steps"))]
    if number == KILLS:
        return {**train(model_dir, hooks, exports=True), "read": read_all(model_dir)}
    if number % 4 == 0:  # Some moments are before the first step.
        end_after(moments.uniform(0, START_SECS), ended_by)
    else:
        step = int((number + moments.random()) * MAX_STEPS / (KILLS + 1))
        hooks.append(EndAfter(step, moments.uniform(0, MOMENTS_SECS), ended_by))
    began_at = read_all(model_dir)
    train(model_dir, hooks, exports=True)
    return {"survived": began_at}


def main() -> None:
    directory, moments = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
    ended_by = SIGNALS[sys.argv[3]]
    unbroken = [in_a_fork(lambda n=n: train(directory / f"unbroken_{n}")) for n in range(3)]
    seeds = [moments.random() for _ in range(KILLS + 1)]
    starts = [
        in_a_fork(lambda n=n: start(directory / "killed", n, random.Random(seeds[n]), ended_by))
        for n in range(KILLS + 1)
    ]
    print(json.dumps({"unbroken": unbroken, "starts": starts}))


if __name__ == "__main__":
    main()
