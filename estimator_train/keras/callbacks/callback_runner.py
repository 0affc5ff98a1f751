"""Runs callbacks in eager code, on a model with the variables of the training session."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import tensorflow as tf
import tf_keras

from estimator_train.keras.callbacks.callback_checks import (
    Callback,
    check_optimizer,
    check_same_keras,
    find_keras,
)
from estimator_train.keras.callbacks.observed_model import ObservedTraining
from estimator_train.keras.callbacks.shadow_model import LiveModel, ShadowModel
from estimator_train.keras.graph.eager_scope import enter_eager_scope

# What `Model.evaluate` takes as x, or a function that returns it.
ValidationData: TypeAlias = tf.data.Dataset | tuple[Any, ...] | Callable[[], Any]


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
            function()
            changed = self._shadow.write()
            self._shadow.session = None
            return changed


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
