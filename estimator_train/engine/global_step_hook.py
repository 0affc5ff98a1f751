"""What hooks that look at the global step of each step have in common."""

import tensorflow as tf

from estimator_train.engine import tf_internals


class GlobalStepHook(tf.compat.v1.train.SessionRunHook):
    """A hook whose run values are the global step before the step, an int64 scalar."""

    def begin(self) -> None:
        """Finds the global step."""
        self._step_read = tf_internals.global_step_read()

    def before_run(
        self, run_context: tf.compat.v1.train.SessionRunContext
    ) -> tf.compat.v1.train.SessionRunArgs | None:
        """Asks for the global step."""
        del run_context
        return tf.compat.v1.train.SessionRunArgs(self._step_read)
