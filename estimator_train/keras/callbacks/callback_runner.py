"""Running callbacks in eager code, on a model with the values of the training session."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.keras.callbacks.callback_checks import check_optimizer
from estimator_train.keras.callbacks.observation import ObservedTraining
from estimator_train.keras.callbacks.shadow_model import LiveModel, ShadowModel, use_session
from estimator_train.keras.graph.eager_scope import eagerly


class CallbackRunner:
    """Calls the methods of callbacks in one training.

    It is made in the graph of the training, before that is final; `use_session` comes before all
    other methods.

    Args:
      callbacks: tf_keras Callbacks.
      training: The Keras model in training; None if the model_fn has no Keras model.
      history: Where the values of each epoch are added, by their names.
      **params: What callbacks find in their `params`, as `epochs` and `steps`.

    Attributes:
      sees_batches: Whether a callback does something at each batch.
    """

    def __init__(
        self,
        callbacks: Sequence[Any],
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
            with eagerly(self._outside):
                model = training.model.make_eager()
            check_optimizer(callbacks, model)
            self._shadow = ShadowModel(training, model)
        with eagerly(self._outside):
            self._model: Any = LiveModel(self._shadow) if self._shadow else tf_keras.Model()
            self._model.stop_training = False
            self._list = _callback_list(callbacks, history, model=self._model, **params)

    @property
    def stop_training(self) -> bool:
        """Whether a callback asked for the end of training."""
        return bool(self._model.stop_training)

    def use_session(self, session: tf.compat.v1.Session) -> None:
        """Has callbacks see and set the variables of a session from now on."""
        self._session = session
        self.variables_changed()

    def variables_changed(self) -> None:
        """Has the model read the session's variables again when it is used next."""
        if self._shadow is not None:
            self._shadow.forget()

    def call(self, method: str, *arguments: Any) -> list[str]:
        """Calls a method of all callbacks.

        Args:
          method: Its name: "on_train_begin", "on_train_end", "on_epoch_begin", "on_epoch_end".
          *arguments: Its arguments.

        Returns:
          The names of the variables that callbacks set in it.
        """
        return self._call(lambda: getattr(self._list, method)(*arguments))

    # Not through the CallbackList, which would take the time from begin to end for the batch's.
    def batch_begin(self, batch: int) -> None:
        """Calls on_train_batch_begin of the callbacks that have it."""
        self._call_each(self._of_begins, "on_train_batch_begin", batch, {})

    def batch_end(self, batch: int, logs: dict[str, Any]) -> None:
        """Calls on_train_batch_end of the callbacks that have it."""
        self._call_each(self._of_batches, "on_train_batch_end", batch, logs)

    def evaluate(self, data: Any, steps: int | None) -> dict[str, Any]:
        """Evaluates the model, as `fit` does at the end of an epoch.

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

    def _call_each(self, callbacks: Sequence[Any], method: str, *arguments: Any) -> None:
        def call() -> None:
            for callback in callbacks:
                getattr(callback, method)(*arguments)

        if callbacks:
            self._call(call)

    def _call(self, function: Callable[[], Any]) -> list[str]:
        """Calls a function that uses the model; returns the names of variables that it set."""
        with eagerly(self._outside):
            if self._shadow is None:
                function()
                return []
            use_session(self._model, self._session)
            function()
            changed = self._shadow.write(self._session)
            use_session(self._model, None)
            return changed


def sees_batches(callback: Any) -> bool:
    """Whether a callback does something at each batch."""
    # What tf_keras asks; TensorBoard and ModelCheckpoint answer by their arguments.
    return bool(callback._implements_train_batch_hooks())


def _sees_begins(callback: Any) -> bool:
    """Whether a callback does something before each batch."""
    base = next(cls for cls in type(callback).__mro__ if cls.__name__ == "Callback")
    names = ("on_train_batch_begin", "on_batch_begin")
    # LambdaCallback and TensorBoard set the methods of an instance.
    return any(
        name in vars(callback) or getattr(type(callback), name) is not getattr(base, name)
        for name in names
    )


def _callback_list(callbacks: Sequence[Any], history: dict[str, list[Any]], **settings: Any) -> Any:
    """A tf_keras CallbackList that continues a history."""
    recorder = tf_keras.callbacks.History()
    made = tf_keras.callbacks.CallbackList([*callbacks, recorder], verbose=0, **settings)
    # At on_train_begin it would start anew, but this history is that of all calls of `train`.
    recorder.history = history
    recorder.on_train_begin = lambda logs=None: None
    recorder.epoch = []
    return made
