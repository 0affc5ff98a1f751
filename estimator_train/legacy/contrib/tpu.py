"""`tf.contrib.tpu`: TPUEstimator and what its model_fns call, where there is no TPU."""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.tpu import (
    InputPipelineConfig,
    RunConfig,
    TPUConfig,
    TPUEstimator,
    TPUEstimatorSpec,
)

__all__ = [
    "CrossShardOptimizer",
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "bfloat16_scope",
    "initialize_system",
    "shutdown_system",
]

bfloat16_scope = tf.compat.v1.tpu.bfloat16_scope
initialize_system = tf.compat.v1.tpu.initialize_system
shutdown_system = tf.compat.v1.tpu.shutdown_system
rewrite = tf.compat.v1.tpu.rewrite
shard = tf.compat.v1.tpu.shard
batch_parallel = tf.compat.v1.tpu.batch_parallel
AsyncCheckpointSaverHook = tf.compat.v1.train.CheckpointSaverHook


class CrossShardOptimizer(tf.compat.v1.train.Optimizer):
    """Sums gradients over the shards of a TPU; here there is one, and nothing to sum.

    Args:
      opt: The optimizer that gets the gradients.
      reduction: How losses are reduced; with one shard it makes no difference.
      name: Name of the operations.
      group_assignment: Which shards belong together; unused.
    """

    def __init__(
        self,
        opt: Any,
        reduction: str = tf.compat.v1.losses.Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: Any = None,
    ) -> None:
        del group_assignment
        if reduction not in (
            tf.compat.v1.losses.Reduction.SUM,
            tf.compat.v1.losses.Reduction.MEAN,
        ):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(False, name)
        self._opt = opt

    def compute_gradients(self, loss: Any, var_list: Any = None, **kwargs: Any) -> Any:
        """The gradients of the wrapped optimizer."""
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Hands gradients to the wrapped optimizer."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The slots of the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """The variables of the wrapped optimizer."""
        return self._opt.variables()


class _TpuContext:
    number_of_shards = None
    is_tpu_function = False


def get_tpu_context() -> Any:
    """The context of a TPU function: outside of one, without a number of shards."""
    return _TpuContext()


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """The sum over shards; of one shard."""
    del group_assignment
    return tf.identity(x, name)


@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """A context that tells the number of shards; nobody asks for it here."""
    yield
