"""A train_and_evaluate job that is ended at chance moments and started again each time.

`python tests/chaos/one_process.py DIRECTORY SEED KILL|TERM TIMES` prints the outcome as JSON,
with the seconds from each signal to the end of the process.
TensorFlow is imported once; each start of the job is a fork, which shares only the model directory
with earlier starts.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import estimator_train as et
from estimator_train.lifecycle.preemption import watch
from estimator_train.training.exporters import FinalExporter, LatestExporter
from estimator_train.training.specs import EvalSpec, TrainSpec
from estimator_train.training.train_and_evaluate import train_and_evaluate

tf1 = tf.compat.v1
SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM}
# The phase in which the signal arrives; the moment within it is random.
MOMENTS = ("start", "step", "save", "evaluation", "export")
START_SECS = 0.8
LONGEST_SECS = {"step": 0.01, "save": 0.03, "evaluation": 0.1, "export": 0.2}
STEPS_EACH = 20
SAVE_STEPS = 10
GRACE_SECS = 30.0
BATCH, EPOCHS = 6, 3


def max_steps(times: int) -> int:
    """Returns a multiple of the epochs, with steps for each end and some more."""
    return STEPS_EACH * EPOCHS * -(-(times + 1) // EPOCHS)


def data(rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Returns rows of 4 features, and a noisy linear function of each row."""
    generator = np.random.RandomState(seed)
    x = generator.standard_normal([rows, 4]).astype(np.float32)
    y = x @ np.array([1.0, -2.0, 3.0, 0.5], np.float32) + generator.standard_normal(rows)
    return {"x": x, "id": np.arange(rows)}, y.astype(np.float32)


def train_input(steps: int) -> tf.data.Dataset:
    """Three epochs in an order of chance, which are as many batches as there are steps."""
    rows = data(steps * BATCH // EPOCHS, 1)

    def epoch(number: tf.Tensor) -> tf.data.Dataset:
        shuffled = tf.data.Dataset.from_tensor_slices(rows).shuffle(100)
        return shuffled.map(lambda x, y: ({**x, "epoch": number}, y))

    return tf.data.Dataset.range(EPOCHS).flat_map(epoch).batch(BATCH)


def eval_input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(data(512, 2)).batch(64)


def count_examples(features: Any, rows: int) -> tf.Operation:
    """Counts in a variable how often each example of each epoch updated the weights."""
    zeros = tf1.zeros_initializer()
    seen = tf1.get_variable("seen", [EPOCHS, rows], tf.int32, zeros, trainable=False)
    places = tf.stack([features["epoch"], features["id"]], axis=1)
    return tf1.scatter_nd_add(seen, places, tf.ones([tf.shape(places)[0]], tf.int32)).op


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    weight = tf1.get_variable("weight", [4, 1], initializer=tf1.zeros_initializer())
    score = tf.matmul(features["x"], weight)[:, 0]
    if mode == et.ModeKeys.PREDICT:
        return et.EstimatorSpec(mode, predictions={"score": score})
    loss = tf.reduce_mean(tf.square(score - labels))
    optimizer = tf1.train.AdamOptimizer(0.03)
    if mode == et.ModeKeys.EVAL:
        return et.EstimatorSpec(mode, {"score": score}, loss)
    with tf.control_dependencies([count_examples(features, params["steps"] * BATCH // EPOCHS)]):
        train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return et.EstimatorSpec(mode, {"score": score}, loss, train_op)


def receiver() -> Any:
    x = {"x": tf1.placeholder(tf.float32, [None, 4], name="x")}
    return et.export.ServingInputReceiver(x, x)


class Moment(tf1.train.SessionRunHook):
    """Ends this process in the middle of something that happens at or after a global step."""

    def __init__(
        self, what: str, step: int, chance: random.Random, number: int, noted: Path
    ) -> None:
        self._what, self._step, self._number, self._noted = what, step, number, noted
        self._secs = chance.uniform(0, LONGEST_SECS.get(what, START_SECS))
        self._reached = False
        if what == "start":
            self._end()

    def steps_until_due(self, global_step: int) -> int | None:
        return max(1, self._step - global_step) if self._what == "step" else None

    def begin(self) -> None:
        self._global_step = tf1.train.get_global_step()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_context.session.run(self._global_step) >= self._step:
            self.comes("step")

    def reach(self, global_step: int) -> None:
        """Runs before a checkpoint is saved."""
        self._reached = global_step >= self._step
        self.comes("save")

    def comes(self, what: str) -> None:
        """Something begins."""
        if what == self._what and (self._reached or what == "step"):
            self._end()
            self._what = ""

    def _end(self) -> None:
        timer = threading.Timer(self._secs, end_now, (self._number, self._noted))
        timer.daemon = True
        timer.start()


class InSave(tf1.train.CheckpointSaverListener):
    """Tells of checkpoints."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment

    def before_save(self, session: Any, global_step_value: int) -> None:
        self._moment.reach(global_step_value)


class InEvaluation(tf1.train.SessionRunHook):
    """Tells of evaluations."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment

    def before_run(self, run_context: Any) -> None:
        self._moment.comes("evaluation")


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


def end_now(number: int, noted: Path) -> None:
    """Sends this process a signal, and notes when."""
    noted.write_text(str(time.monotonic()))
    os.kill(os.getpid(), number)


def train(model_dir: Path, steps: int, hooks: Any = (), moment: Any = None) -> dict[str, float]:
    """Runs the job from wherever it stands; returns its last metrics."""
    config = et.RunConfig(
        save_checkpoints_steps=SAVE_STEPS,
        keep_checkpoint_max=2,
        preemption=True,
        save_input_position=True,
    )
    estimator = et.Estimator(model_fn, model_dir, config, params={"steps": steps})

    def receives() -> Any:
        if moment:
            moment.comes("export")
        return receiver()

    exporters = [
        LatestExporter("latest", receives, exports_to_keep=2),
        FinalExporter("final", receiver),
    ]
    metrics, _ = train_and_evaluate(
        estimator,
        TrainSpec(
            lambda: train_input(steps),
            max_steps=steps,
            hooks=[*hooks, *([moment] if moment else [])],
            saving_listeners=[InSave(moment)] if moment else [],
        ),
        EvalSpec(
            eval_input,
            every_steps=STEPS_EACH if moment else steps,
            hooks=[InEvaluation(moment)] if moment else [],
            exporters=exporters,
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
    """Returns a function's result in another process; None if killed, the exit code if it saved."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        os.close(reader)
        try:
            with os.fdopen(writer, "w") as pipe, watch(et.Preemption(grace_secs=GRACE_SECS)):
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


def start(model_dir: Path, number: int, times: int, chance: random.Random, ended_by: int) -> Any:
    """Starts the job for the time of that number, to be ended unless that was the last."""
    hooks: list[Any] = [CountSteps(model_dir.with_suffix(".steps"))]
    steps = max_steps(times)
    if number == times:
        metrics = train(model_dir, steps, hooks)
        seen = values_of(str(tf.train.latest_checkpoint(model_dir)))["seen"]
        often = [int(seen.min()), int(seen.max())]
        return {**metrics, "read": read_all(model_dir), "seen": often}
    what = MOMENTS[number % len(MOMENTS)]
    began_at = read_all(model_dir)
    step = number * STEPS_EACH + chance.randrange(STEPS_EACH)
    moment = Moment(what, step, chance, ended_by, model_dir.with_suffix(".signal"))
    train(model_dir, steps, hooks, moment)
    return {"survived": began_at, "what": what}


def main() -> None:
    directory, chance = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
    ended_by, times = SIGNALS[sys.argv[3]], int(sys.argv[4])
    steps = max_steps(times)
    unbroken = [in_a_fork(lambda n=n: train(directory / f"unbroken_{n}", steps)) for n in range(6)]
    seeds = [chance.random() for _ in range(times + 1)]
    model_dir, starts, secs = directory / "broken", [], []
    for number in range(times + 1):
        starts.append(
            in_a_fork(
                lambda n=number: start(model_dir, n, times, random.Random(seeds[n]), ended_by)
            )
        )
        if number < times:
            secs.append(time.monotonic() - float(model_dir.with_suffix(".signal").read_text()))
    print(json.dumps({"unbroken": unbroken, "starts": starts, "secs": secs}))


if __name__ == "__main__":
    main()
