"""One process of a measurement: `python -m benchmarks.training.replica API KIND [quick]`.

KIND is alone, devices (two virtual devices under MirroredStrategy), workers (one of the workers in
TF_CONFIG), or such a worker with one of `WORKER_MODELS`; linear:K has K steps in a session call.
The process prints its steps per second.
"""

import os
import sys
from typing import Any

from benchmarks.apis import APIS
from benchmarks.meters import make_window_clock
from benchmarks.training.estimators import make_model_fn
from benchmarks.training.model import WINDOWS, compute_steady_rate
from benchmarks.training.replicas import MARK, MODEL, REPLICAS, WORKER_MODELS


def main(api_name: str, kind: str, *quick: str) -> None:
    """Trains and prints the speed."""
    import tensorflow as tf

    kind, _, steps_per_loop = kind.partition(":")
    loops = {"steps_per_loop": int(steps_per_loop)} if steps_per_loop else {}
    model = WORKER_MODELS.get(kind, MODEL)
    strategy = _make_strategy(kind)
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
    estimator = api.Estimator(make_model_fn(model, model.logits, api), config=config)
    clock = make_window_clock(window, os.path.join(os.environ["MODEL_DIR"], "clock"))
    train = api.TrainSpec(model.dataset, max_steps=window * WINDOWS + 1, hooks=[clock])
    api.train_and_evaluate(estimator, train, api.EvalSpec(model.dataset, steps=1))
    print(MARK, compute_steady_rate(clock.marks, window), flush=True)


def _make_strategy(kind: str) -> Any:
    import tensorflow as tf

    if kind == "workers" or kind in WORKER_MODELS:
        return tf.distribute.experimental.MultiWorkerMirroredStrategy()
    if kind == "alone":
        return None
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    )
    return tf.distribute.MirroredStrategy([f"/cpu:{index}" for index in range(REPLICAS)])


if __name__ == "__main__":
    main(*sys.argv[1:])
