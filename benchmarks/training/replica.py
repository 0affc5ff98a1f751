"""One process of a measurement: `python -m benchmarks.training.replica API KIND [quick]`.

KIND is alone, devices (two virtual ones under MirroredStrategy), workers (one of those in
TF_CONFIG) or linear:K (the same with a linear model, K steps a session call). It prints its own
steps a second.
"""

import os
import sys
import time
from typing import Any

from benchmarks.apis import APIS
from benchmarks.training.estimators import model_fn
from benchmarks.training.model import WINDOWS, steady_rate
from benchmarks.training.replicas import LINEAR, MARK, MODEL, REPLICAS


def main(api_name: str, kind: str, *quick: str) -> None:
    """Train, and print the speed."""
    import tensorflow as tf

    kind, _, steps_per_loop = kind.partition(":")
    loops = {"steps_per_loop": int(steps_per_loop)} if steps_per_loop else {}
    model = LINEAR if kind == "linear" else MODEL
    strategy = _strategy(kind)
    api, window = APIS[api_name].estimator, model.window(bool(quick))
    config = api.RunConfig(
        model_dir=os.environ["MODEL_DIR"],
        session_config=tf.compat.v1.ConfigProto(
            allow_soft_placement=True, device_count={"CPU": REPLICAS if kind == "devices" else 1}
        ),
        train_distribute=strategy,
        log_step_count_steps=window,
        **loops,
    )
    assert model.logits is not None
    estimator = api.Estimator(model_fn(model, model.logits, api), config=config)
    clock = _clock(window)
    train = api.TrainSpec(model.dataset, max_steps=window * WINDOWS + 1, hooks=[clock])
    api.train_and_evaluate(estimator, train, api.EvalSpec(model.dataset, steps=1))
    print(MARK, steady_rate(clock.marks, window), flush=True)


def _strategy(kind: str) -> Any:
    import tensorflow as tf

    if kind in ("workers", "linear"):
        return tf.distribute.experimental.MultiWorkerMirroredStrategy()
    if kind == "alone":
        return None
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    )
    return tf.distribute.MirroredStrategy([f"/cpu:{index}" for index in range(REPLICAS)])


def _clock(window: int) -> Any:
    """A hook with the time of every window's last step, which lets steps run in loops between."""
    import tensorflow as tf

    class Clock(tf.compat.v1.train.StepCounterHook):
        """What logs steps a second, which workers other than the chief do without."""

        keeps_cadence = True

        def __init__(self) -> None:
            super().__init__(every_n_steps=window, output_dir=os.environ["MODEL_DIR"] + "/clock")
            self.marks: list[tuple[int, float]] = []

        def _log_and_record(
            self, elapsed_steps: int, elapsed_time: float, global_step: int
        ) -> None:
            self.marks.append((int(global_step), time.time()))

    return Clock()


if __name__ == "__main__":
    main(*sys.argv[1:])
