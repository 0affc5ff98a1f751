"""Checks of the tf_keras callbacks that a training runs."""

from collections.abc import Sequence
from typing import TypeAlias

import tf_keras

Callback: TypeAlias = tf_keras.callbacks.Callback

# Name of a class to the reason and the alternative.
_REFUSED = {
    "BackupAndRestore": "An Estimator continues from the latest checkpoint in model_dir by itself; "
    "for backups of every epoch or every so many steps there is hooks.BackupAndRestore",
    "ProgbarLogger": "It counts the batches of fit; use hooks.ProgressHook",
    "BaseLogger": "It averages the batches that it sees; the logs hold averages already",
    "SidecarEvaluatorModelExport": "It needs a tf_keras SidecarEvaluator; use a BestExporter in "
    "EvalSpec(exporters=...)",
}
# Name of a class to its alternative for a model_fn without a Keras model.
_NEED_MODEL = {
    "ModelCheckpoint": "RunConfig(save_checkpoints_steps=...)",
    "LearningRateScheduler": "a schedule of tf.compat.v1.train, such as exponential_decay",
    "ReduceLROnPlateau": "a learning rate that is a variable, and a hook that assigns it",
    "TensorBoard": "the event files that are in model_dir anyway",
}
_OF_LEARNING_RATE = ("LearningRateScheduler", "ReduceLROnPlateau")


def check_callbacks(callbacks: Callback | Sequence[Callback]) -> list[Callback]:
    """Returns the callbacks as a list; raises an error if an Estimator cannot run them.

    Args:
      callbacks: A tf_keras Callback or several.

    Raises:
      TypeError: An element is not a tf_keras Callback.
      ValueError: A callback works in `fit` only.
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
        _check_callback(callback)
    return list(callbacks)


def drop_writers(callbacks: Sequence[Callback]) -> list[Callback]:
    """Returns the callbacks that do more than write files; only the chief writes files.

    Args:
      callbacks: tf_keras Callbacks.
    """
    known = tf_keras.callbacks
    writers = (known.ModelCheckpoint, known.TensorBoard, known.CSVLogger)
    return [callback for callback in callbacks if not isinstance(callback, writers)]


def _check_callback(callback: Callback) -> None:
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


def check_without_model(callbacks: Sequence[Callback], validates: bool) -> None:
    """Checks callbacks for the training of a model_fn that has no Keras model.

    Args:
      callbacks: tf_keras Callbacks.
      validates: Whether there is validation data.

    Raises:
      ValueError: A callback or the validation needs a model.
    """
    if validates:
        raise _needs_model("validation_data", "experimental.InMemoryEvaluatorHook or an EvalSpec")
    for callback in callbacks:
        for name in _keras_classes(callback):
            if name in _NEED_MODEL:
                raise _needs_model(name, _NEED_MODEL[name])
        if getattr(callback, "restore_best_weights", False):
            argument = f"{type(callback).__name__}(restore_best_weights=True)"
            raise _needs_model(argument, "RunConfig(keep_best=...)")


def _needs_model(name: str, alternative: str) -> ValueError:
    return ValueError(
        f"{name} needs a Keras model, and this model_fn has none. Use {alternative}. Or make the "
        "model_fn by keras.model_fn or keras.model_to_estimator."
    )


def check_optimizer(callbacks: Sequence[Callback], model: tf_keras.Model) -> None:
    """Checks callbacks for the training of a Keras model with several optimizers.

    Args:
      callbacks: tf_keras Callbacks.
      model: The model of the callbacks; its optimizer is None if it is trained by several.

    Raises:
      ValueError: A callback sets the learning rate, and there are several optimizers.
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


def _keras_classes(callback: Callback) -> list[str]:
    """Returns the names of the tf_keras classes that a callback inherits from."""
    return [cls.__name__ for cls in type(callback).__mro__ if cls.__module__.startswith("tf_keras")]
