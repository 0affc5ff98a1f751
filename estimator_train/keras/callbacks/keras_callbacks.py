"""tf_keras callbacks in the training of an Estimator."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.placed_hook import Place, PlacedHook
from estimator_train.keras.callbacks.callback_checks import (
    check_callbacks,
    check_optimizer,
    check_without_model,
    sees_batches,
    sees_begins,
    without_writers,
)
from estimator_train.keras.callbacks.observation import ask_to_watch, watched
from estimator_train.keras.callbacks.shadow_model import LiveModel, Twin, use_session
from estimator_train.keras.graph.eager_scope import eagerly
from estimator_train.run_config.topology import is_multi_worker

_LOG = tf.get_logger()


class KerasCallbacks(PlacedHook):
    """Runs tf_keras callbacks as `fit` does: at the ends of epochs, and of batches if they want.

    Callbacks see an eager copy of the model, which has the training's variables whenever it is
    used; what they set in it (the learning rate, weights) is set in the training. `model.optimizer`
    has the learning rate and the count of updates; all else is read as soon as another attribute of
    `model` is used. Epochs are counted from global step 0, so a job that goes on from a checkpoint
    goes on with its epochs. An epoch that the end of training cuts short has no end for callbacks.

    With a model_fn of your own there is no Keras model: callbacks then have the loss alone, and
    those that need a model are refused.

    Args:
      callbacks: tf_keras Callbacks.
      steps_per_epoch: Global steps in an epoch.
      validation_data: What `Model.evaluate` takes as x: a Dataset, or a tuple of arrays (x, y) or
        (x, y, sample_weight); or a function without arguments that returns it. Epochs end with an
        evaluation of it, whose metrics are in the logs as `val_...`.
      validation_steps: Batches of each such evaluation; by default all.
      epochs: Epochs after which training stops, counted from global step 0; by default it ends by
        other means, such as the end of the input.

    Attributes:
      history: Name to the list of the epochs' values, as in `fit(...).history`.

    Raises:
      ValueError: steps_per_epoch is not positive, or a callback needs what an Estimator does
        otherwise.
      TypeError: One is no tf_keras Callback.
    """

    place = Place.SETS_VARIABLES

    def __init__(
        self,
        callbacks: Sequence[Any],
        steps_per_epoch: int,
        validation_data: Any = None,
        validation_steps: int | None = None,
        epochs: int | None = None,
    ) -> None:
        if steps_per_epoch is None or steps_per_epoch <= 0:
            raise ValueError(f"steps_per_epoch must be positive, got {steps_per_epoch}.")
        self._use(check_callbacks(callbacks))
        self._steps_per_epoch = int(steps_per_epoch)
        self._validation_data = validation_data
        self._validation_steps = validation_steps
        self._epochs = epochs
        if not self._of_batches:  # Without it every step is seen, and none runs in a loop.
            self.steps_until_due = self._steps_until_due
        self.history: dict[str, list[Any]] = {}

    @property
    def last_step(self) -> int | None:
        """The global step after which training stops, as far as it is known before."""
        return None if self._epochs is None else self._epochs * self._steps_per_epoch

    def before_model(self) -> None:
        """Asks the model_fn to let the training be watched."""
        ask_to_watch()

    def begin(self) -> None:
        """Makes the model that callbacks see."""
        # What callbacks do is eager, as in fit; it is in this graph only as far as it is in none.
        self._outside = tf.Graph()
        self._epoch: int | None = None
        self._started = self._ended = False
        self._losses: list[float] = []
        self._last_logs: dict[str, Any] | None = None
        self._found = found = watched()
        self._global_step = tf.compat.v1.train.get_global_step()
        self._loss = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.LOSSES)[-1:]
        self._twin: Twin | None = None
        if found is None:
            check_without_model(self._given, self._validation_data is not None)
        else:
            with eagerly(self._outside):
                model = found.training.make_eager()
                found.training.build_eager(model)
            check_optimizer(self._given, model)
            if not found.strategy.extended.should_checkpoint:
                self._use(without_writers(self._given))
            self._twin = Twin(found, model)
        with eagerly(self._outside):
            self._list = self._make_list()

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Begins the training for the callbacks; in a session after a lost one it goes on."""
        self._session = session
        self._step = int(session.run(self._global_step))
        if not self._started:
            self._started = True
            self._call(lambda: self._list.on_train_begin())
        if self._stops():
            coord.request_stop()

    def before_run(
        self, run_context: tf.compat.v1.train.SessionRunContext
    ) -> tf.compat.v1.train.SessionRunArgs:
        """Tells callbacks of a batch that begins."""
        del run_context
        self._begin_epoch()
        if self._of_begins:
            self._call(self._begin_batch)
        if self._found is None:
            return tf.compat.v1.train.SessionRunArgs(self._loss)
        step_logs = self._found.step_logs if self._of_batches else None
        return tf.compat.v1.train.SessionRunArgs(list((step_logs or {}).values()))

    def after_loop(self, steps: int, loss: Any) -> None:
        """Counts steps that it did not see."""
        del loss
        self._advance(steps)

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Tells callbacks of a batch that ended, and of the epoch if it ended with it."""
        self._advance(1)
        if self._found is None:
            self._losses += [float(loss) for loss in run_values.results]
        if self._of_batches:
            logs = self._step_logs(run_values.results)
            self._call(lambda: self._end_batch(logs))
        if self._step % self._steps_per_epoch == 0:
            self._end_epoch()
        if self._stops():
            if not self._makes_one_more_step():
                self._end_training()  # Now, for a checkpoint of this step to hold what they set.
            run_context.request_stop()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Ends the training for the callbacks, unless they ended it."""
        self._session = session
        if self._ended:
            return
        self._advance(0)  # Workers in step made a step more than hooks see.
        changed = self._end_training()
        if changed and not self._makes_one_more_step():
            _LOG.warning(
                "Callbacks set %s at the end of training. If a checkpoint was written at its last "
                "step, they are not in it: give KerasCallbacks the number of epochs.",
                ", ".join(changed[:3]),
            )

    def _use(self, callbacks: list[Any]) -> None:
        self._given = callbacks
        self._of_batches = [callback for callback in callbacks if sees_batches(callback)]
        self._of_begins = [callback for callback in self._of_batches if sees_begins(callback)]

    def _end_training(self) -> list[str]:
        self._ended = True
        return self._call(lambda: self._list.on_train_end(self._last_logs))

    def _make_list(self) -> Any:
        import tf_keras  # Estimators without Keras models load without it.

        if self._twin is not None:
            self._model: Any = LiveModel(self._twin)
        else:
            self._model = tf_keras.Model()
        history = tf_keras.callbacks.History()
        self._model.stop_training = False
        made = tf_keras.callbacks.CallbackList(
            [*self._given, history],
            model=self._model,
            verbose=0,
            epochs=self._epochs,
            steps=self._steps_per_epoch,
        )
        # It starts anew at on_train_begin, which is not what one of several calls of train wants.
        history.history = self.history
        history.on_train_begin = lambda logs=None: None
        history.epoch = []
        return made

    def _call(self, function: Callable[[], Any]) -> list[str]:
        """Has callbacks do something; returns the names of variables that they set."""
        with eagerly(self._outside):
            if self._twin is None:
                function()
                return []
            use_session(self._model, self._session)
            function()
            changed = self._twin.write(self._session)
            use_session(self._model, None)
            return changed

    def _steps_until_due(self, global_step: int) -> int:
        """Steps up to the end of the epoch; one where the loss of each is all there is to log."""
        self._begin_epoch()
        if self._found is None:
            return 1
        return self._steps_per_epoch - global_step % self._steps_per_epoch

    def _advance(self, steps: int) -> None:
        self._step += steps
        if self._twin is not None:
            self._twin.forget()

    def _begin_epoch(self) -> None:
        """Tells callbacks of the epoch of the next step, unless they know it."""
        epoch = self._step // self._steps_per_epoch
        if epoch != self._epoch:
            self._epoch = epoch
            self._call(lambda: self._list.on_epoch_begin(epoch))

    # Not by the list of callbacks, which takes the time from begin to end for the batch's.
    def _begin_batch(self) -> None:
        batch = self._step % self._steps_per_epoch
        for callback in self._of_begins:
            callback.on_train_batch_begin(batch, {})

    def _end_batch(self, logs: dict[str, Any]) -> None:
        batch = (self._step - 1) % self._steps_per_epoch
        for callback in self._of_batches:
            callback.on_train_batch_end(batch, logs)

    def _end_epoch(self) -> None:
        logs = self._logs()
        self._losses = []
        if self._found is not None:
            self._session.run(list(self._found.resets))
        epoch = self._epoch
        if self._validation_data is not None:
            self._call(lambda: logs.update(self._validated()))
        self._last_logs = logs
        self._call(lambda: self._list.on_epoch_end(epoch, logs))

    def _logs(self) -> dict[str, Any]:
        if self._found is not None:
            values = self._session.run(dict(self._found.logs))
            return {name: _plain(value) for name, value in values.items()}
        return {"loss": float(np.mean(self._losses))} if self._losses else {}

    def _step_logs(self, fetched: Sequence[Any]) -> dict[str, Any]:
        """The logs after a step, as they came with it or as they are read now."""
        if self._found is None or not self._found.step_logs:
            return self._logs()
        return {
            name: _plain(value) for name, value in zip(self._found.step_logs, fetched, strict=True)
        }

    def _validated(self) -> dict[str, Any]:
        data = self._validation_data() if callable(self._validation_data) else self._validation_data
        parts = data if isinstance(data, tuple) else (data,)
        arguments = dict(zip(("x", "y", "sample_weight"), parts, strict=False))
        found = self._model.evaluate(
            **arguments,
            steps=self._validation_steps,
            callbacks=self._list,
            verbose=0,
            return_dict=True,
        )
        return {f"val_{name}": value for name, value in found.items()}

    def _stops(self) -> bool:
        return self._is_over() or bool(self._model.stop_training)

    def _is_over(self) -> bool:
        return self.last_step is not None and self._step >= self.last_step

    def _makes_one_more_step(self) -> bool:
        """Whether a worker in step with others tells them by one more step that it stops here."""
        if self._found is None or self._is_over():
            return False
        return is_multi_worker(self._found.strategy)


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value
