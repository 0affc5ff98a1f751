"""Hook that runs tf_keras callbacks in the training of an Estimator."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.together.strategies import is_multi_worker
from estimator_train.engine.types import (
    HookPhase,
    PreModelHook,
    RunArgs,
    RunContext,
    RunValues,
)
from estimator_train.keras.callback_runner import (
    Callback,
    CallbackRunner,
    ValidationData,
    check_callbacks,
    check_without_model,
    drop_writers,
    sees_batches,
    swaps_averages,
)
from estimator_train.keras.observation import (
    KerasLogs,
    LossLogs,
    find_published_training,
    request_observation,
)

_LOG = tf.get_logger()


class KerasCallbacks(PreModelHook):
    """Hook that runs tf_keras callbacks as `fit` does, at the ends of epochs and of batches.

    Callbacks see an eager copy of the model, which reads the training's variables when it is used.
    The training takes over the variables that callbacks set (the learning rate, weights).
    The learning rate and the count of updates of `model.optimizer` are read alone; every other
    attribute of `model` and of its optimizer reads all variables. Epochs are counted from global
    step 0, so a resumed job continues with its epochs. `on_epoch_end` is not called for an epoch
    that training does not complete.

    A hand-written model_fn has no Keras model: its callbacks get the loss only, and callbacks that
    need a model raise ValueError.

    Args:
      callbacks: tf_keras Callbacks.
      steps_per_epoch: Global steps in an epoch.
      validation_data: What `Model.evaluate` takes as x: a Dataset, or a tuple of arrays (x, y) or
        (x, y, sample_weight); or a function without arguments that returns one of these. Each
        epoch ends with an evaluation, whose metrics are in the logs as `val_...`.
      validation_steps: Batches of each evaluation; by default all.
      epochs: Number of epochs, counted from global step 0, after which training stops; by default
        something else ends it, such as the end of the input.

    Attributes:
      history: Names to lists of one value per epoch, as in `fit(...).history`.

    Raises:
      ValueError: steps_per_epoch is not positive, or a callback cannot run in an Estimator or needs
        `epochs`.
      TypeError: A callback is not a tf_keras Callback.
    """

    phase = HookPhase.SETS_VARIABLES

    def __init__(
        self,
        callbacks: Sequence[Callback],
        steps_per_epoch: int,
        validation_data: ValidationData | None = None,
        validation_steps: int | None = None,
        epochs: int | None = None,
    ) -> None:
        if steps_per_epoch is None or steps_per_epoch <= 0:
            raise ValueError(f"steps_per_epoch must be positive, got {steps_per_epoch}.")
        self._callbacks = check_callbacks(callbacks)
        swaps = filter(swaps_averages, self._callbacks)
        if epochs is None and any(getattr(one, "swap_on_epoch", False) for one in swaps):
            raise ValueError(
                "SwapEMAWeights(swap_on_epoch=True) keeps the averages after the last epoch, whose "
                "number is not known: give KerasCallbacks(epochs=...)."
            )
        self._steps_per_epoch = int(steps_per_epoch)
        self._validation_data = validation_data
        self._validation_steps = validation_steps
        self._epochs = epochs
        # A hook without this method sees every step, and no steps run in a loop.
        if not any(map(sees_batches, self._callbacks)):
            self.steps_until_due = self._steps_until_due
        self.history: dict[str, list[Any]] = {}

    @property
    def last_step(self) -> int | None:
        """The global step after which training stops, None if it is not known in advance."""
        return None if self._epochs is None else self._epochs * self._steps_per_epoch

    def before_model(self) -> None:
        """Asks the model_fn to publish its training to this hook."""
        request_observation()

    def begin(self) -> None:
        """Creates the model that callbacks see."""
        self._epoch: int | None = None
        self._started = self._ended = False
        self._last_logs: dict[str, Any] | None = None
        self._global_step = tf.compat.v1.train.get_global_step()
        self._training = training = find_published_training()
        if training is None:
            check_without_model(self._callbacks, self._validation_data is not None)
        elif not training.strategy.extended.should_checkpoint:
            self._callbacks = drop_writers(self._callbacks)
        self._runner = CallbackRunner(
            self._callbacks,
            training,
            self.history,
            epochs=self._epochs,
            steps=self._steps_per_epoch,
        )
        self._logs: KerasLogs | LossLogs = (
            LossLogs() if training is None else KerasLogs(training, self._runner.sees_batches)
        )

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Calls on_train_begin; a session that replaces a lost one continues the training."""
        self._use_session(session)
        self._step = int(session.run(self._global_step))
        if not self._started:
            self._started = True
            self._runner.call("on_train_begin")
        if self._should_stop():
            coord.request_stop()

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Calls on_train_batch_begin."""
        self._begin_epoch()
        self._runner.batch_begin(self._step % self._steps_per_epoch)
        return RunArgs(list(self._logs.fetches))

    def after_loop(self, steps: int, loss: object) -> None:
        """Counts the steps of a loop, which this hook did not see."""
        self._count_steps(steps)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Calls on_train_batch_end, and on_epoch_end after the last batch of an epoch."""
        self._count_steps(1)
        logs = self._logs.read_batch_logs(self._session, run_values.results)
        self._runner.batch_end((self._step - 1) % self._steps_per_epoch, logs)
        if self._step % self._steps_per_epoch == 0:
            self._end_epoch()
        if self._should_stop():
            if not self._runs_one_more_step():
                # Before the checkpoint of this step, which then holds the variables they set.
                self._end_training()
            run_context.request_stop()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Calls on_train_end, unless it was called before."""
        if self._ended:
            return
        self._use_session(session)  # Synchronous workers run one step more than hooks see.
        changed = self._end_training()
        if changed and not self._runs_one_more_step():
            _LOG.warning(
                "Callbacks set %s at the end of training. If a checkpoint was written at its last "
                "step, they are not in it: give KerasCallbacks the number of epochs.",
                ", ".join(changed[:3]),
            )

    def _use_session(self, session: tf.compat.v1.Session) -> None:
        self._session = session
        self._runner.use_session(session)

    def _steps_until_due(self, global_step: int) -> int:
        """Returns the steps up to the end of the epoch; 1 if callbacks need each loss."""
        self._begin_epoch()
        if self._training is None:
            return 1
        return self._steps_per_epoch - global_step % self._steps_per_epoch

    def _count_steps(self, steps: int) -> None:
        self._step += steps
        self._runner.variables_changed()

    def _begin_epoch(self) -> None:
        """Calls on_epoch_begin if the next step begins an epoch."""
        epoch = self._step // self._steps_per_epoch
        if epoch != self._epoch:
            self._epoch = epoch
            self._runner.call("on_epoch_begin", epoch)

    def _end_epoch(self) -> None:
        logs = self._logs.read_epoch_logs(self._session)
        self._logs.reset(self._session)
        if self._validation_data is not None:
            logs |= self._runner.evaluate(self._validation_data, self._validation_steps)
        self._last_logs = logs
        self._runner.call("on_epoch_end", self._epoch, logs)

    def _end_training(self) -> list[str]:
        self._ended = True
        return self._runner.call("on_train_end", self._last_logs)

    def _should_stop(self) -> bool:
        return self._is_over() or self._runner.stop_training

    def _is_over(self) -> bool:
        return self.last_step is not None and self._step >= self.last_step

    def _runs_one_more_step(self) -> bool:
        """Returns whether this synchronous worker runs one more step to stop the others."""
        if self._training is None or self._is_over():
            return False
        return is_multi_worker(self._training.strategy)
