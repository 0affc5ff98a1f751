"""Stand-in for `tf.contrib.tpu`: TPUEstimator and the functions of its model_fns, without a TPU."""

import contextlib
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import tensorflow as tf

from estimator_train.tpu import (
    InputPipelineConfig,
    RunConfig,
    TPUConfig,
    TPUEstimator,
    TPUEstimatorSpec,
)
from tf_contrib._types import GradientsAndVariables, Optimizer, Step, TensorLike

__all__ = [
    "BatchConfig",
    "CrossShardOptimizer",
    "ExportSavedModelApiVersion",
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "bfloat16_scope",
    "initialize_system",
    "shutdown_system",
]

Model = TypeVar("Model")
bfloat16_scope = tf.compat.v1.tpu.bfloat16_scope
initialize_system = tf.compat.v1.tpu.initialize_system
shutdown_system = tf.compat.v1.tpu.shutdown_system
rewrite = tf.compat.v1.tpu.rewrite
shard = tf.compat.v1.tpu.shard
batch_parallel = tf.compat.v1.tpu.batch_parallel
AsyncCheckpointSaverHook = tf.compat.v1.train.CheckpointSaverHook


class ExportSavedModelApiVersion(enum.Enum):
    """Version of the function that exports a TPUEstimator."""

    V1 = 1
    V2 = 2


class BatchConfig(NamedTuple):
    """Settings of the batches of a served TPU model."""

    num_batch_threads: int
    max_batch_size: int
    batch_timeout_micros: int
    allowed_batch_sizes: Sequence[int]
    max_enqueued_batches: int = 10


class CrossShardOptimizer(tf.compat.v1.train.Optimizer):
    """Optimizer that sums gradients over TPU shards; here there is a single shard.

    Args:
      opt: Wrapped optimizer.
      reduction: Reduction of losses, which has no effect on a single shard.
      name: Name of the operations.
      group_assignment: Unused.
    """

    def __init__(
        self,
        opt: Optimizer,
        reduction: str = tf.compat.v1.losses.Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: object = None,
    ) -> None:
        del group_assignment
        if reduction not in (
            tf.compat.v1.losses.Reduction.SUM,
            tf.compat.v1.losses.Reduction.MEAN,
        ):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(False, name)
        self._opt = opt

    def compute_gradients(
        self, loss: tf.Tensor, var_list: Sequence[tf.Variable] | None = None, **kwargs: Any
    ) -> GradientsAndVariables:
        """Returns the gradients of the wrapped optimizer."""
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: Step | None = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Applies gradients with the wrapped optimizer."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> tf.Variable:
        """Returns a slot of the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Returns the slot names of the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[tf.Variable]:
        """Returns the variables of the wrapped optimizer."""
        return self._opt.variables()


_FILE_TYPES: dict[str, Callable[..., tf.data.Dataset]] = {
    "tfrecord": tf.compat.v1.data.TFRecordDataset,
    "textline": tf.compat.v1.data.TextLineDataset,
}


def StreamingFilesDataset(  # noqa: N802 the name in tf.contrib
    files: str | tf.data.Dataset,
    filetype: str | Callable[[tf.Tensor], tf.data.Dataset] | None = None,
    file_reader_job: str | None = None,
    worker_job: str | None = None,
    num_epochs: int | None = None,
    filename_shuffle_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    batch_transfer_size: int | None = None,
    sloppy: bool | None = None,
) -> tf.data.Dataset:
    """Creates a dataset of the records of files, which this process reads itself.

    Args:
      files: Pattern of the files, or a dataset of their names.
      filetype: "tfrecord", the default; "textline"; or a function of a name that returns a dataset.
      file_reader_job: Unused.
      worker_job: Unused.
      num_epochs: Number of epochs; None: repeat without an end.
      filename_shuffle_buffer_size: Number of names to shuffle, by default 100; 0 or False: none.
      num_parallel_reads: Number of files to read at a time, by default 8.
      batch_transfer_size: Unused.
      sloppy: Whether the order may vary, by default True.

    Raises:
      ValueError: The file type is unknown.
    """
    del file_reader_job, worker_job, batch_transfer_size
    read = _FILE_TYPES.get(filetype) if isinstance(filetype, str) else filetype
    if filetype is not None and not callable(read):
        raise ValueError(
            f"filetype must be one of {', '.join(_FILE_TYPES)} or a function, got {filetype!r}."
        )
    names: Any = files
    if isinstance(files, str):
        names = tf.compat.v1.data.Dataset.list_files(files, shuffle=False)
    size = 100 if filename_shuffle_buffer_size is None else filename_shuffle_buffer_size
    names = names.shuffle(size) if size else names
    parallel_reads = num_parallel_reads or 8
    return names.repeat(num_epochs).interleave(
        read or _FILE_TYPES["tfrecord"],
        cycle_length=parallel_reads,
        num_parallel_calls=parallel_reads,
        deterministic=sloppy is False,
    )


class _TPUContext:
    number_of_shards = None
    is_tpu_function = False


def get_tpu_context() -> _TPUContext:
    """Returns the context outside of a TPU function, without a number of shards."""
    return _TPUContext()


def cross_replica_sum(
    x: TensorLike, group_assignment: object = None, name: str | None = None
) -> tf.Tensor:
    """Returns the sum over the single shard."""
    del group_assignment
    return tf.identity(x, name)


@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """Opens a context that sets the number of shards, which nothing reads here."""
    yield


def export_estimator_savedmodel(
    estimator: TPUEstimator,
    export_dir_base: str,
    serving_input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Exports the model for CPUs; see `Estimator.export_saved_model`.

    Returns:
      The path of the export.
    """
    return estimator.export_saved_model(
        export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
    )


class TPUDistributionStrategy:
    """Strategy that `keras_to_tpu_model` takes.

    Args:
      tpu_cluster_resolver: Unused.
      using_single_core: Unused.
    """

    def __init__(
        self, tpu_cluster_resolver: object = None, using_single_core: bool = False
    ) -> None:
        del tpu_cluster_resolver, using_single_core


def keras_to_tpu_model(model: Model, strategy: TPUDistributionStrategy | None = None) -> Model:
    """Returns the Keras model itself, which trains without a TPU."""
    del strategy
    return model
