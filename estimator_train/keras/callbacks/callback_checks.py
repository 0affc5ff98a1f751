"""Checks of the Keras callbacks that a training runs."""

from collections.abc import Sequence
from typing import TypeAlias

import tf_keras

# A callback of tf_keras or of Keras 3, whose methods are the same.
Callback: TypeAlias = tf_keras.callbacks.Callback
_WRITERS = {"ModelCheckpoint", "TensorBoard", "CSVLogger"}

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
      callbacks: A Keras Callback or several.

    Raises:
      TypeError: An element is not a Keras Callback.
      ValueError: A callback works in `fit` only.
    """
    if _is_callback(callbacks):
        callbacks = [callbacks]
    for callback in callbacks:
        if not _is_callback(callback):
            raise TypeError(
                f"callbacks must be Keras Callbacks, got {callback!r} of type "
                f"{type(callback).__module__}.{type(callback).__name__}."
            )
        _check_callback(callback)
    return list(callbacks)


def drop_writers(callbacks: Sequence[Callback]) -> list[Callback]:
    """Returns the callbacks that do more than write files; only the chief writes files.

    Args:
      callbacks: Keras Callbacks.
    """
    return [
        callback for callback in callbacks if _WRITERS.isdisjoint(_list_keras_classes(callback))
    ]


def check_same_keras(callbacks: Sequence[Callback], module: str) -> None:
    """Checks that callbacks are of the Keras that the model is of.

    Args:
      callbacks: Keras Callbacks.
      module: The package of the model, "keras" or "tf_keras".

    Raises:
      TypeError: A callback is of the other Keras.
    """
    for callback in callbacks:
        if find_keras(callback) != module:
            raise TypeError(
                f"{type(callback).__name__} is a callback of {find_keras(callback)}, and the model "
                f"is one of {module}. Take the callback from {module}.callbacks."
            )


def find_keras(value: object) -> str:
    """Returns the package of an object of Keras: "keras" for Keras 3, or "tf_keras"."""
    packages = {cls.__module__.partition(".")[0] for cls in type(value).__mro__}
    return "keras" if "keras" in packages else "tf_keras"


def _is_callback(value: object) -> bool:
    return "Callback" in _list_keras_classes(value)


def _check_callback(callback: Callback) -> None:
    names = _list_keras_classes(callback)
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
      callbacks: Keras Callbacks.
      validates: Whether there is validation data.

    Raises:
      ValueError: A callback or the validation needs a model.
    """
    if validates:
        raise _needs_model("validation_data", "experimental.InMemoryEvaluatorHook or an EvalSpec")
    for callback in callbacks:
        for name in _list_keras_classes(callback):
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
      callbacks: Keras Callbacks.
      model: The model of the callbacks; its optimizer is None if it is trained by several.

    Raises:
      ValueError: A callback sets the learning rate, and there are several optimizers.
    """
    if model.optimizer is not None:
        return
    for callback in callbacks:
        for name in _list_keras_classes(callback):
            if name in _OF_LEARNING_RATE:
                raise ValueError(
                    f"{name} sets the learning rate of model.optimizer, and this model is "
                    "trained by several optimizers. Give each of them a schedule of "
                    "keras.optimizers.schedules as its learning_rate instead."
                )


def _list_keras_classes(value: object) -> list[str]:
    """Returns the names of the Keras classes that an object inherits from."""
    packages = ("keras", "tf_keras")
    classes = type(value).__mro__
    return [cls.__name__ for cls in classes if cls.__module__.partition(".")[0] in packages]
