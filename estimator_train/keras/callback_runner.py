"""Runs callbacks in eager code, on a model with the variables of the training session."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.keras.build_settings import enter_eager_scope
from estimator_train.keras.family import find_keras
from estimator_train.keras.observation import LiveModel, ObservedTraining, ShadowModel

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
_LOG = tf.get_logger()
_OF_LEARNING_RATE = ("LearningRateScheduler", "ReduceLROnPlateau")
# What `Model.evaluate` takes as x, or a function that returns it.
ValidationData: TypeAlias = tf.data.Dataset | tuple[Any, ...] | Callable[[], Any]


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


def swaps_averages(callback: object) -> bool:
    """Returns whether a callback is Keras 3's SwapEMAWeights."""
    return "SwapEMAWeights" in _list_keras_classes(callback)


def _list_keras_classes(value: object) -> list[str]:
    """Returns the names of the Keras classes that an object inherits from."""
    packages = ("keras", "tf_keras")
    classes = type(value).__mro__
    return [cls.__name__ for cls in classes if cls.__module__.partition(".")[0] in packages]


class CallbackRunner:
    """Calls the methods of callbacks in one training.

    Construct it in the graph of the training, before the graph is final. Call `use_session` before
    all other methods.

    Args:
      callbacks: tf_keras Callbacks.
      training: The Keras model in training; None if the model_fn has no Keras model.
      history: Names to lists, to which each epoch adds its values.
      **params: The `params` of the callbacks, such as `epochs` and `steps`.

    Attributes:
      sees_batches: Whether a callback has methods for batches.
    """

    def __init__(
        self,
        callbacks: Sequence[Callback],
        training: ObservedTraining | None,
        history: dict[str, list[Any]],
        **params: Any,
    ) -> None:
        # Callbacks run eagerly, as in fit, outside of the graph of the training.
        self._outside = tf.Graph()
        self._callbacks = callbacks
        self._of_batches = [callback for callback in callbacks if sees_batches(callback)]
        self._of_begins = [callback for callback in self._of_batches if _sees_begins(callback)]
        self.sees_batches = bool(self._of_batches)
        self._shadow: ShadowModel | None = None
        if training is not None:
            with enter_eager_scope(self._outside):
                model = training.model.make_eager()
            check_same_keras(callbacks, find_keras(model))
            check_optimizer(callbacks, model)
            self._shadow = ShadowModel(training, model)
            with enter_eager_scope(self._outside):
                self._settings = _read_settings(model.optimizer)
        with enter_eager_scope(self._outside):
            self._model: Any = LiveModel(self._shadow) if self._shadow else tf_keras.Model()
            self._model.stop_training = False
            self._list = _make_callback_list(callbacks, history, model=self._model, **params)

    @property
    def stop_training(self) -> bool:
        """Whether a callback asked for the end of training."""
        return bool(self._model.stop_training)

    def use_session(self, session: tf.compat.v1.Session) -> None:
        """Makes callbacks read and set the variables of this session from now on."""
        self._session = session
        self.variables_changed()

    def variables_changed(self) -> None:
        """Marks the model as outdated: it reads the session's variables when it is next used."""
        if self._shadow is not None:
            self._shadow.forget()

    def call(self, method: str, *arguments: Any) -> list[str]:
        """Calls a method of all callbacks.

        Args:
          method: Its name: "on_train_begin", "on_train_end", "on_epoch_begin", "on_epoch_end".
          *arguments: Its arguments.

        Returns:
          The names of the variables that callbacks set.
        """
        return self._call(lambda: getattr(self._list, method)(*arguments))

    # Not through the CallbackList: it measures the time between the calls as the time of a batch.
    def batch_begin(self, batch: int) -> None:
        """Calls on_train_batch_begin of the callbacks that define it."""
        self._call_each(self._of_begins, "on_train_batch_begin", batch, {})

    def batch_end(self, batch: int, logs: dict[str, Any]) -> None:
        """Calls on_train_batch_end of the callbacks that define it."""
        self._call_each(self._of_batches, "on_train_batch_end", batch, logs)

    def evaluate(self, data: ValidationData, steps: int | None) -> dict[str, Any]:
        """Evaluates the model as `fit` does at the end of an epoch.

        Args:
          data: A Dataset, a tuple of arrays, or a function that returns one of these.
          steps: Number of batches; None for all.

        Returns:
          The loss and metrics, with names that begin with "val_".
        """
        logs: dict[str, Any] = {}

        def evaluate() -> None:
            found = data() if callable(data) else data
            parts = found if isinstance(found, tuple) else (found,)
            arguments = dict(zip(("x", "y", "sample_weight"), parts, strict=False))
            arguments.update(steps=steps, callbacks=self._list, verbose=0, return_dict=True)
            logs.update(self._model.evaluate(**arguments))

        self._call(evaluate)
        return {f"val_{name}": value for name, value in logs.items()}

    def _call_each(self, callbacks: Sequence[Callback], method: str, *arguments: Any) -> None:
        def call() -> None:
            for callback in callbacks:
                getattr(callback, method)(*arguments)

        if callbacks:
            self._call(call)

    def _call(self, function: Callable[[], Any]) -> list[str]:
        """Calls a function that uses the model; returns the names of the variables it set."""
        with enter_eager_scope(self._outside):
            if self._shadow is None:
                function()
                return []
            self._shadow.session = self._session
            if self._keeps_parts(self._shadow):
                # They use layers or variables without the attributes of the model, which read.
                self._shadow.read(scalars_only=False)
            function()
            changed = self._shadow.write()
            if self._shadow.is_read:
                self._warn_of_settings(self._shadow.model.optimizer)
            self._shadow.session = None
            return changed

    def _warn_of_settings(self, optimizer: Any) -> None:
        """Warns once of each setting of the optimizer that a callback changed."""
        settings = _read_settings(optimizer)
        changed = [name for name, value in settings.items() if value != self._settings.get(name)]
        if changed:
            _LOG.warning(
                "A callback set %s of model.optimizer, which does not change this training: its "
                "graph has the values from before. Give them to the optimizer; a callback can set "
                "the learning rate and weights.",
                ", ".join(changed),
            )
            self._settings = settings

    def _keeps_parts(self, shadow: ShadowModel) -> bool:
        """Returns whether a callback keeps layers or variables that it found in the model.

        SwapEMAWeights takes those of the optimizer, whose attribute reads only its scalars.
        """
        if any(map(swaps_averages, self._callbacks)):
            return True
        kept = (value for callback in self._callbacks for value in vars(callback).values())
        return any(map(shadow.has_part, kept))


def _read_settings(optimizer: Any) -> dict[str, Any]:
    """Returns an optimizer's settings that are scalars or names, without the learning rate."""
    try:
        config = optimizer.get_config()
    except (AttributeError, NotImplementedError):  # None, several optimizers, or a user's class.
        return {}
    return {
        name: float(np.float32(value)) if isinstance(value, float) else value  # As in variables.
        for name, value in config.items()
        if name != "learning_rate" and isinstance(value, (bool, int, float, str, np.generic))
    }


def sees_batches(callback: Callback) -> bool:
    """Returns whether a callback has methods for batches."""
    # As tf_keras decides; TensorBoard and ModelCheckpoint answer by their arguments.
    decide = getattr(callback, "_implements_train_batch_hooks", None)
    if decide is not None:
        return bool(decide())
    frequencies = (getattr(callback, name, None) for name in ("save_freq", "update_freq"))
    names = ("on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end")
    return "epoch" not in frequencies and _defines(callback, names)


def _sees_begins(callback: Callback) -> bool:
    """Returns whether a callback has a method for the beginning of batches."""
    return _defines(callback, ("on_train_batch_begin", "on_batch_begin"))


def _defines(callback: Callback, names: Sequence[str]) -> bool:
    base = next(cls for cls in type(callback).__mro__ if cls.__name__ == "Callback")
    # LambdaCallback and TensorBoard set the methods of an instance.
    return any(
        name in vars(callback) or getattr(type(callback), name) is not getattr(base, name)
        for name in names
    )


def _make_callback_list(
    callbacks: Sequence[Callback], history: dict[str, list[Any]], **settings: Any
) -> tf_keras.callbacks.CallbackList:
    """Makes a CallbackList whose History continues an earlier one."""
    # The lists of both kinds of Keras call each callback in the same way, but test for their model.
    of_keras_3 = any(find_keras(callback) == "keras" for callback in callbacks)
    module = importlib.import_module("keras" if of_keras_3 else "tf_keras").callbacks
    recorder = module.History()
    callback_list = module.CallbackList([*callbacks, recorder], verbose=0, **settings)
    # Its own on_train_begin empties the history, and this one covers all calls of `train`.
    recorder.history = history
    recorder.on_train_begin = lambda logs=None: None
    recorder.epoch = []
    return callback_list
