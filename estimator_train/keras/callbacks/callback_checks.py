"""Which tf_keras callbacks can run in a training, and what to use instead of the others."""

from collections.abc import Sequence
from typing import Any

import tf_keras

# Name to why, and what to use instead.
_REFUSED = {
    "BackupAndRestore": "An Estimator continues from the latest checkpoint in model_dir by itself; "
    "for backups of every epoch or every so many steps there is hooks.BackupAndRestore",
    "ProgbarLogger": "It counts the batches of fit; use hooks.ProgressHook",
    "BaseLogger": "It averages the batches that it sees; the logs hold averages already",
    "SidecarEvaluatorModelExport": "It needs a tf_keras SidecarEvaluator; use a BestExporter in "
    "EvalSpec(exporters=...)",
}
# Name to what to use instead, where a model_fn has no Keras model.
_NEED_MODEL = {
    "ModelCheckpoint": "RunConfig(save_checkpoints_steps=...)",
    "LearningRateScheduler": "a schedule of tf.compat.v1.train, such as exponential_decay",
    "ReduceLROnPlateau": "a learning rate that is a variable, and a hook that assigns it",
    "TensorBoard": "the event files that are in model_dir anyway",
}
_OF_LEARNING_RATE = ("LearningRateScheduler", "ReduceLROnPlateau")


def check_callbacks(callbacks: Any) -> list[Any]:
    """Returns the callbacks as a list, if an Estimator can run them.

    Args:
      callbacks: A tf_keras Callback or several.

    Raises:
      TypeError: One is not a tf_keras Callback.
      ValueError: One needs what only `fit` has.
    """
    if isinstance(callbacks, tf_keras.callbacks.Callback):
        callbacks = [callbacks]
    for callback in callbacks:
        if not isinstance(callback, tf_keras.callbacks.Callback):
            of_keras_3 = type(callback).__mro__[-2].__module__.split(".")[0] == "keras"
            advice = " Take it from tf_keras.callbacks." if of_keras_3 else ""
            raise TypeError(
                f"callbacks must be tf_keras Callbacks, got {callback!r} of type "
                f"{type(callback).__module__}.{type(callback).__name__}.{advice}"
            )
        _check_one(callback)
    return list(callbacks)


def without_writers(callbacks: Sequence[Any]) -> list[Any]:
    """The callbacks without those that only write files, as the chief alone does.

    Args:
      callbacks: tf_keras Callbacks.
    """
    known = tf_keras.callbacks
    writers = (known.ModelCheckpoint, known.TensorBoard, known.CSVLogger)
    return [callback for callback in callbacks if not isinstance(callback, writers)]


def _check_one(callback: Any) -> None:
    names = _keras_classes(callback)
    for name in names:
        if name in _REFUSED:
            raise ValueError(f"{name} cannot run in an Estimator. {_REFUSED[name]}.")
    frequency = getattr(callback, "update_freq", "epoch")
    if "TensorBoard" in names and frequency != "epoch":
        raise ValueError(
            f"TensorBoard(update_freq={frequency!r}) writes from within fit's own step. Use "
            "update_freq='epoch'; the loss of every so many steps is in the event files of "
            "model_dir, by RunConfig(save_summary_steps=...)."
        )


def check_without_model(callbacks: Sequence[Any], validates: bool) -> None:
    """Checks callbacks for the training of a model_fn that has no Keras model.

    Args:
      callbacks: tf_keras Callbacks.
      validates: Whether there is validation data.

    Raises:
      ValueError: One needs a model, or validation does.
    """
    if validates:
        raise _needs_model("validation_data", "experimental.InMemoryEvaluatorHook or an EvalSpec")
    for callback in callbacks:
        for name in _keras_classes(callback):
            if name in _NEED_MODEL:
                raise _needs_model(name, _NEED_MODEL[name])
        if getattr(callback, "restore_best_weights", False):
            what = f"{type(callback).__name__}(restore_best_weights=True)"
            raise _needs_model(what, "RunConfig(keep_best=...)")


def _needs_model(what: str, instead: str) -> ValueError:
    return ValueError(
        f"{what} needs a Keras model, and this model_fn has none. Use {instead}. Or make the "
        "model_fn by keras.model_fn or keras.model_to_estimator."
    )


def check_optimizer(callbacks: Sequence[Any], model: Any) -> None:
    """Checks callbacks for the training of a Keras model with several optimizers.

    Args:
      callbacks: tf_keras Callbacks.
      model: The model that they will have.

    Raises:
      ValueError: One sets the learning rate, of which there are several.
    """
    if model.optimizer is not None:
        return
    for callback in callbacks:
        for name in _keras_classes(callback):
            if name in _OF_LEARNING_RATE:
                raise ValueError(
                    f"{name} sets the learning rate of model.optimizer, and this model is "
                    "trained by several optimizers. Give each of them a schedule of "
                    "tf_keras.optimizers.schedules as its learning_rate instead."
                )


def _keras_classes(callback: Any) -> list[str]:
    """The names of the callback's classes that are of tf_keras."""
    return [cls.__name__ for cls in type(callback).__mro__ if cls.__module__.startswith("tf_keras")]
