"""Speed of Estimator.train, from its global_step/sec events."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.apis import Apis
from benchmarks.training.model import (
    WINDOWS,
    TrainedModel,
    compute_steady_rate,
    cross_entropy,
    variable,
)


def train_by_estimator(
    model: TrainedModel, apis: Apis, quick: bool, mirrored: bool = False
) -> float:
    """Returns the steps per second of an Estimator.

    Args:
      model: The model to train.
      apis: The API of the Estimator.
      quick: Whether only to try the code.
      mirrored: Whether to train under MirroredStrategy with one device.
    """
    import tensorflow as tf

    api, keras = apis.estimator, apis.keras

    strategy = tf.distribute.MirroredStrategy(["/cpu:0"]) if mirrored else None
    window = model.window(quick)
    with tempfile.TemporaryDirectory() as model_dir:
        config = api.RunConfig(
            model_dir=model_dir,
            log_step_count_steps=min(window, 100),
            train_distribute=strategy,
        )
        if model.logits is None:
            to_estimator = keras.estimator.model_to_estimator
            estimator = to_estimator(model.keras_model(keras), config=config)
        else:
            estimator = api.Estimator(make_model_fn(model, model.logits, api), config=config)
        # The first event is written `window` steps after the first step.
        estimator.train(model.dataset, steps=window * WINDOWS + 1)
        return compute_steady_rate(read_marks(model_dir), window)


def make_model_fn(
    model: TrainedModel, logits: Callable[..., Any], api: ModuleType
) -> Callable[..., Any]:
    """Returns a model_fn of either Estimator API that trains a model with the given logits."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        import tensorflow as tf

        loss = cross_entropy(logits(variable, features), labels)
        step = tf.compat.v1.train.get_global_step()
        train_op = model.v1_optimizer().minimize(loss, global_step=step)
        return api.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def read_marks(model_dir: str) -> list[tuple[int, float]]:
    """Returns the steps and the times in seconds of the events with the training speed."""
    import tensorflow as tf

    (path,) = Path(model_dir).glob("events.out.tfevents.*")
    return [
        (event.step, event.wall_time)
        for event in tf.compat.v1.train.summary_iterator(str(path))
        if any(value.tag == "global_step/sec" for value in event.summary.value)
    ]
