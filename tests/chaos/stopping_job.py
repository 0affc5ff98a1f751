"""A linear regression whose tasks stop themselves at a moment: `stopping_job.py MODEL_DIR STEPS`.

STOP=TASK@MOMENT has that task stop itself, as by SIGSTOP, at one of these moments:
  import    before it has made anything
  model     as its graph is built
  asked     a parameter server, when the chief has found it and builds its graph
  created   when its session is made
  step      before the third step
  saving    before it writes the last checkpoint
STRATEGY=multi_worker makes its workers synchronous; LIMIT_SECS are those of all waits.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import tensorflow as tf
from linear_job import input_fn, model_fn as linear_model_fn

import estimator_train as est

tf1 = tf.compat.v1
_SAVE_STEPS = 5


class _Stops:
    """Whether this task is to stop at a moment; it leaves a file for those who start it again."""

    def __init__(self, model_dir: str, name: str) -> None:
        self._name, self._dir = name, Path(model_dir)
        self._dir.mkdir(parents=True, exist_ok=True)
        self._task, _, self._moment = os.environ.get("STOP", "@").partition("@")

    def at(self, moment: str) -> None:
        if (self._task, self._moment) == (self._name, moment):
            (self._dir / "stopped").touch()
            os.kill(os.getpid(), signal.SIGSTOP)

    def when_asked(self) -> None:
        """Stops a parameter server when the chief builds its graph."""

        def watch() -> None:
            while not (self._dir / "asked").exists():
                time.sleep(0.05)
            self.at("asked")

        if self._name.startswith("ps"):
            threading.Thread(target=watch, daemon=True).start()

    def ask(self) -> None:
        """Waits for a server that is to stop now."""
        if self._moment == "asked" and self._name == "chief:0":
            (self._dir / "asked").touch()
            while not (self._dir / "stopped").exists():
                time.sleep(0.05)


class _InTraining(tf1.train.SessionRunHook):
    def __init__(self, stops: _Stops) -> None:
        self._stops, self._steps = stops, 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._stops.at("created")

    def before_run(self, run_context: Any) -> None:
        self._steps += 1
        if self._steps == 3:
            self._stops.at("step")


class _InSaving(tf1.train.CheckpointSaverListener):
    def __init__(self, stops: _Stops, last_step: int) -> None:
        self._stops, self._last = stops, last_step

    def before_save(self, session: Any, global_step_value: int) -> None:
        if global_step_value >= self._last:
            self._stops.at("saving")


def main() -> None:
    model_dir, steps = sys.argv[1], int(sys.argv[2])
    place = json.loads(os.environ["TF_CONFIG"])["task"]
    stops = _Stops(model_dir, f"{place['type']}:{place['index']}")
    stops.at("import")
    stops.when_asked()

    def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> est.EstimatorSpec:
        stops.at("model")
        stops.ask()
        return linear_model_fn(features, labels, mode)

    limit = float(os.environ.get("LIMIT_SECS", 45))
    is_sync = os.environ.get("STRATEGY") == "multi_worker"
    config = est.RunConfig(
        model_dir=model_dir,
        save_checkpoints_steps=_SAVE_STEPS,
        train_distribute=tf.distribute.MultiWorkerMirroredStrategy() if is_sync else None,
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=limit,
        step_timeout_secs=limit if is_sync else None,
    )
    listener = _InSaving(stops, steps)
    train = est.TrainSpec(input_fn, steps, [_InTraining(stops)], saving_listeners=[listener])
    evaluation = est.EvalSpec(input_fn, steps=4, start_delay_secs=0, throttle_secs=1)
    est.train_and_evaluate(est.Estimator(model_fn, config=config), train, evaluation)


if __name__ == "__main__":
    main()
