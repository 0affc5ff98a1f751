"""Stand-in for `tf.contrib.data`: today's transformations under their old names."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.extension import CheckpointEntry
from tf_contrib._types import Nest

_experimental = tf.compat.v1.data.experimental
# In the order of the attribute `external_state_policy` of TensorFlow's operation.
_STATE_POLICIES = ("warn", "ignore", "fail")
Transformation = Callable[[tf.data.Dataset], tf.data.Dataset]

AUTOTUNE = tf.data.experimental.AUTOTUNE
Counter = _experimental.Counter
CsvDataset = _experimental.CsvDataset
RandomDataset = _experimental.RandomDataset
SqlDataset = _experimental.SqlDataset
OptionalStructure = tf.OptionalSpec
Optional = _experimental.Optional
Reducer = _experimental.Reducer
TFRecordWriter = _experimental.TFRecordWriter
bucket_by_sequence_length = _experimental.bucket_by_sequence_length
choose_from_datasets = _experimental.choose_from_datasets
copy_to_device = _experimental.copy_to_device
dense_to_sparse_batch = _experimental.dense_to_sparse_batch
enumerate_dataset = _experimental.enumerate_dataset
get_next_as_optional = _experimental.get_next_as_optional
get_single_element = _experimental.get_single_element
group_by_reducer = _experimental.group_by_reducer
ignore_errors = _experimental.ignore_errors
make_batched_features_dataset = _experimental.make_batched_features_dataset
make_csv_dataset = _experimental.make_csv_dataset
make_saveable_from_iterator = _experimental.make_saveable_from_iterator
map_and_batch = _experimental.map_and_batch
parallel_interleave = _experimental.parallel_interleave
parse_example_dataset = _experimental.parse_example_dataset
prefetch_to_device = _experimental.prefetch_to_device
rejection_resample = _experimental.rejection_resample
sample_from_datasets = _experimental.sample_from_datasets
scan = _experimental.scan
shuffle_and_repeat = _experimental.shuffle_and_repeat
unbatch = _experimental.unbatch
unique = _experimental.unique
Dataset = tf.compat.v1.data.Dataset
FixedLengthRecordDataset = tf.compat.v1.data.FixedLengthRecordDataset
Iterator = tf.compat.v1.data.Iterator
TextLineDataset = tf.compat.v1.data.TextLineDataset
TFRecordDataset = tf.compat.v1.data.TFRecordDataset


def assert_element_shape(expected_shapes: Nest) -> Transformation:
    """Creates a transformation that sets the static shapes of elements and checks them.

    Args:
      expected_shapes: Shapes in the structure of an element.

    Returns:
      A function of a dataset; it raises ValueError for other static shapes.
    """

    def apply(dataset: tf.data.Dataset) -> tf.data.Dataset:
        tf.nest.map_structure(
            lambda known, shape: known.assert_is_compatible_with(shape),
            tf.compat.v1.data.get_output_shapes(dataset),
            expected_shapes,
        )

        def check(*parts: Any) -> Any:
            element = parts if len(parts) > 1 else parts[0]
            return tf.nest.map_structure(tf.ensure_shape, element, expected_shapes)

        return dataset.map(check)

    return apply


def group_by_window(
    key_func: Callable[..., tf.Tensor],
    reduce_func: Callable[..., Any],
    window_size: int | tf.Tensor | None = None,
    window_size_func: Callable[[tf.Tensor], tf.Tensor] | None = None,
) -> Transformation:
    """See `tf.data.Dataset.group_by_window`."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def batch_and_drop_remainder(batch_size: int | tf.Tensor) -> Transformation:
    """Returns a transformation that batches elements and drops the last batch if it is smaller."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: int | tf.Tensor, padded_shapes: Nest, padding_values: Nest | None = None
) -> Transformation:
    """Returns a transformation that batches padded elements and drops a smaller last batch.

    Arguments are those of `tf.data.Dataset.padded_batch`.
    """
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sliding_window_batch(
    window_size: int,
    stride: int | None = None,
    window_shift: int | None = None,
    window_stride: int = 1,
) -> Transformation:
    """Returns a transformation that batches overlapping windows of elements.

    Args:
      window_size: Number of elements in a window.
      stride: Older name of window_shift.
      window_shift: Number of elements between the starts of two windows; 1 by default.
      window_stride: Number of elements between neighbours in a window.

    Raises:
      ValueError: Both stride and window_shift are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("stride is the older name of window_shift: give window_shift alone.")
    shift = next((step for step in (window_shift, stride) if step is not None), 1)

    def apply(dataset: tf.data.Dataset) -> tf.data.Dataset:
        is_tuple = isinstance(tf.compat.v1.data.get_output_types(dataset), tuple)

        def make_batches(*windows: Any) -> tf.data.Dataset:
            parts = windows if is_tuple else windows[0]
            batched = tf.nest.map_structure(lambda window: window.batch(window_size), parts)
            return tf.data.Dataset.zip(batched)

        return dataset.window(window_size, shift, window_stride, drop_remainder=True).flat_map(
            make_batches
        )

    return apply


def sloppy_interleave(
    map_func: Callable[..., tf.data.Dataset], cycle_length: int, block_length: int = 1
) -> Transformation:
    """Returns a `parallel_interleave` whose elements come in any order."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def reduce_dataset(dataset: tf.data.Dataset, reducer: tf.data.experimental.Reducer) -> Nest:
    """Returns the result of a reducer over all elements of a dataset."""
    first = reducer.init_func(np.int64(0))
    return reducer.finalize_func(dataset.reduce(first, reducer.reduce_func))


def read_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[..., tf.data.Dataset] = TFRecordDataset,
    reader_args: Sequence[Any] | None = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> dict[str, tf.Tensor | tf.SparseTensor]:
    """Returns the next batch of parsed examples; see `make_batched_features_dataset`."""
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()


class PrivateThreadPool:
    """Threads that run a dataset.

    Args:
      num_threads: Number of threads.
      display_name: Name of the threads, which nothing shows here.
      max_intra_op_parallelism: Number of threads of one operation.
    """

    def __init__(
        self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int = 1
    ) -> None:
        self.num_threads = num_threads
        self.max_intra_op_parallelism = max_intra_op_parallelism


def override_threadpool(
    dataset: tf.data.Dataset, thread_pool: PrivateThreadPool
) -> tf.data.Dataset:
    """Returns the dataset, run by the threads."""
    options = tf.data.Options()
    options.threading.private_threadpool_size = thread_pool.num_threads
    options.threading.max_intra_op_parallelism = thread_pool.max_intra_op_parallelism
    return dataset.with_options(options)


class CheckpointInputPipelineHook(tf.compat.v1.train.SessionRunHook):
    """Hook that saves the state of a training's input in files of its own, and restores it.

    It saves as often as the Estimator saves checkpoints, and at the end.

    Args:
      estimator: The Estimator that trains.
      external_state_policy: What happens if the input has state that TensorFlow does not save, as a
        random number generator: "fail" (also None), "warn" or "ignore".

    Raises:
      ValueError: The policy is none of these, or the RunConfig saves no checkpoints.
    """

    def __init__(self, estimator: Any, external_state_policy: str | None = None) -> None:
        policy = external_state_policy or "fail"
        if policy not in _STATE_POLICIES:
            raise ValueError(
                "Invalid `ExternalStatePolicy.` Supported values include 'warn', 'ignore', and "
                f"'fail.' Received {policy}."
            )
        self._policy = _STATE_POLICIES.index(policy)
        config = estimator.config
        suffix = f"_{config.task_type}_{config.task_id}" if config.num_worker_replicas > 1 else ""
        self._model_dir = estimator.model_dir
        self._prefix = os.path.join(self._model_dir, f"input{suffix}.ckpt")
        self._list_name = f"checkpoint_input{suffix}"
        self._timer = tf.compat.v1.train.SecondOrStepTimer(
            config.save_checkpoints_secs, config.save_checkpoints_steps
        )

    def begin(self) -> None:
        """Adds the operations that save and restore all iterators of the graph."""
        self._timer.reset()
        self._global_step = tf.compat.v1.train.get_global_step()
        iterators = tf.compat.v1.get_collection("iterators")
        entries = [_make_entry(iterator, self._policy) for iterator in iterators]
        self._saver = tf.compat.v1.train.Saver(entries)

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Restores the latest state, or saves the first."""
        del coord
        state = tf.train.get_checkpoint_state(self._model_dir, self._list_name)
        if state is None:
            self._save(session, int(session.run(self._global_step)))
            return
        self._saver.restore(session, state.model_checkpoint_path)

    def before_run(self, run_context: Any) -> tf.compat.v1.train.SessionRunArgs:
        """Fetches the global step."""
        return tf.compat.v1.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Saves the state if it is due."""
        step = run_values.results + 1
        if not self._timer.should_trigger_for_step(step):
            return
        step = int(run_context.session.run(self._global_step))
        if self._timer.should_trigger_for_step(step):
            self._save(run_context.session, step)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Saves the last state."""
        step = int(session.run(self._global_step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)

    def _save(self, session: tf.compat.v1.Session, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        self._saver.save(session, self._prefix, step, latest_filename=self._list_name)


def _make_entry(iterator: tf.Tensor, policy: int) -> CheckpointEntry:
    """Returns the entry of a Saver for the state of an iterator, under the key of the original."""
    state = tf.raw_ops.SerializeIterator(resource_handle=iterator, external_state_policy=policy)

    def restore(restored: tf.Tensor) -> tf.Operation:
        return tf.raw_ops.DeserializeIterator(resource_handle=iterator, serialized=restored)

    return CheckpointEntry(f"{iterator.name}_STATE", state, restore)
