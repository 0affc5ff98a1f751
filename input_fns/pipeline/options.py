"""Settings for shuffling, repeating, batching and prefetching rows."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from input_fns.pipeline import checks

RAISE, SKIP = "raise", "skip"
MEMORY = "memory"
DEFAULT_SHUFFLE_ROWS = 10_000  # For sources that read files as a stream.


@dataclasses.dataclass(frozen=True, kw_only=True)
class PipelineOptions:
    """Settings that all sources share; the constructor checks them.

    Every source takes them by name (`arrays(x, y, batch_size=32)`), or in one object
    (`arrays(x, y, options=PipelineOptions(batch_size=32))`).

    Attributes:
      batch_size: Rows in a batch.
      shuffle: Whether each epoch is in a new random order.
      num_epochs: Passes over the rows; None repeats indefinitely.
      seed: Seed of the shuffle; None uses TensorFlow's global seed, or a random one.
      buffer_size: A row moves by fewer places than this when shuffled; None means anywhere, or
        fewer than 10,000 places in files that are read as a stream.
      prefetch_buffer_size: Number of batches prepared in advance; None lets tf.data choose.
      prefetch_device: Device that holds the prefetched batches, such as '/gpu:0'; None keeps them
        in the host's memory, and a strategy prefetches them to its devices. A checkpoint cannot
        save the position of a pipeline with a prefetch_device.
      drop_remainder: Whether a last batch with fewer than `batch_size` rows is dropped.
      cache: 'memory', or the path of a cache file. Rows are decoded once and then read from the
        cache. None caches nothing.
      num_parallel_calls: Number of rows or batches to load in parallel; None means the number of
        processors.
      deterministic: Whether the same seed always gives the same order; False may be faster.
      input_context: Index and number of the pipelines that share the rows; None reads all rows.
      private_threads: Number of threads in a pool for this pipeline; None uses the threads of
        the session.
      on_bad_record: 'raise' fails with an error that names the unreadable record; 'skip' skips it.
      max_bad_records: Maximum number of skipped records before an error; None sets no limit.
      bad_records_file: File that gets one line for each skipped record; None writes no file.
    """

    batch_size: int = 64
    shuffle: bool = False
    num_epochs: int | None = None
    seed: int | None = None
    buffer_size: int | None = None
    prefetch_buffer_size: int | None = None
    prefetch_device: str | None = None
    drop_remainder: bool = False
    cache: str | os.PathLike[str] | None = None
    num_parallel_calls: int | None = None
    deterministic: bool = True
    input_context: tf.distribute.InputContext | None = None
    private_threads: int | None = None
    on_bad_record: str = RAISE
    max_bad_records: int | None = None
    bad_records_file: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        checks.integer("batch_size", self.batch_size, minimum=1)
        for name in ("num_epochs", "buffer_size", "num_parallel_calls", "private_threads"):
            checks.optional_integer(name, getattr(self, name), minimum=1)
        checks.optional_integer(
            "prefetch_buffer_size", self.prefetch_buffer_size, minimum=tf.data.AUTOTUNE
        )
        checks.optional_integer("seed", self.seed, minimum=-(2**63))
        checks.optional_integer("max_bad_records", self.max_bad_records, minimum=0)
        checks.one_of("on_bad_record", self.on_bad_record, (RAISE, SKIP))
        for name in ("cache", "bad_records_file"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checks.path(name, getattr(self, name)))
        if self.bad_records_file is not None:
            checks.folder_of("bad_records_file", self.bad_records_file)
        checks.input_context(self.input_context)
        if not isinstance(self.prefetch_device, str | None):
            raise TypeError(
                "prefetch_device must be a name such as '/gpu:0', but got "
                f"{self.prefetch_device!r}."
            )

    @classmethod
    def from_arguments(cls, settings: Mapping[str, Any], **listed: Any) -> "PipelineOptions":
        """Returns the PipelineOptions for the arguments of a source.

        Args:
          settings: Settings by name; the key `options` may hold a PipelineOptions with defaults
            for all other settings.
          **listed: Settings in the signature of the source; `options` overrides them.

        Raises:
          TypeError: A name is not a setting.
          ValueError: A value is out of range.
        """
        named = {name: value for name, value in settings.items() if name != "options"}
        known = [field.name for field in dataclasses.fields(cls)]
        unknown = [name for name in named if name not in known]
        if unknown:
            raise TypeError(
                f"There is no argument {', '.join(map(repr, unknown))}. The settings of a pipeline "
                f"are {', '.join(known)}."
            )
        options = settings.get("options")
        if options is None:
            return cls(**listed, **named)
        return dataclasses.replace(options, **named)

    @property
    def prefetch(self) -> int:
        """The argument for `Dataset.prefetch`."""
        if self.prefetch_buffer_size is None:
            return tf.data.AUTOTUNE
        return self.prefetch_buffer_size

    @property
    def parallel_calls(self) -> int:
        """The number of rows or batches to load in parallel."""
        return self.num_parallel_calls or os.cpu_count() or 1

    @property
    def num_pipelines(self) -> int:
        """The number of pipelines that share the rows."""
        return self.input_context.num_input_pipelines if self.input_context else 1

    @property
    def pipeline_index(self) -> int:
        """The index of this pipeline, from 0."""
        return self.input_context.input_pipeline_id if self.input_context else 0

    def count_own_rows(self, count: int) -> int:
        """Returns how many of `count` rows this pipeline reads: one of every `num_pipelines`.

        Raises:
          ValueError: This pipeline gets no row.
        """
        own_count = len(range(self.pipeline_index, count, self.num_pipelines))
        if own_count == 0:
            raise ValueError(
                f"{count} row(s) are too few for {self.num_pipelines} input pipelines: pipeline "
                f"{self.pipeline_index} gets no row. Train with fewer workers, or on more data."
            )
        return own_count

    def cardinality(self, count: int) -> int:
        """Returns the number of batches in all epochs.

        Args:
          count: Number of rows in one epoch.

        Returns:
          The number of batches, or `tf.data.INFINITE_CARDINALITY`.

        Raises:
          ValueError: The number of batches is 0.
        """
        if self.num_epochs is None:
            return tf.data.INFINITE_CARDINALITY
        full_batches, remainder = divmod(count * self.num_epochs, self.batch_size)
        if remainder and not self.drop_remainder:
            return full_batches + 1
        if full_batches == 0:
            raise ValueError(
                f"batch_size={self.batch_size} with drop_remainder=True leaves no batch of "
                f"{count} rows in {self.num_epochs} epoch(s): use a smaller batch_size, or "
                "drop_remainder=False."
            )
        return full_batches

    def finish(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        """Adds the last stages of a pipeline: tf.data options and prefetching."""
        if self.private_threads is not None or not self.deterministic:
            options = tf.data.Options()
            options.deterministic = self.deterministic
            if self.private_threads is not None:
                options.threading.private_threadpool_size = self.private_threads
            dataset = dataset.with_options(options)
        if self.prefetch_device is None:
            return dataset.prefetch(self.prefetch)
        # prefetch_to_device needs a number. With two batches, one is copied while a step uses the
        # other.
        size = 2 if self.prefetch == tf.data.AUTOTUNE else self.prefetch
        return dataset.apply(tf.data.experimental.prefetch_to_device(self.prefetch_device, size))
