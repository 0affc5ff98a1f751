"""How rows are shuffled, repeated, batched and prefetched: one set of checked settings."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from input_fns.pipeline import checks

RAISE, SKIP = "raise", "skip"
MEMORY = "memory"
SHUFFLED = 10_000  # Rows that a stream mixes at a time where buffer_size is None.


@dataclasses.dataclass(frozen=True, kw_only=True)
class PipelineOptions:
    """Settings that all sources share; they are checked when they are made.

    Every source takes them by name (`arrays(x, y, batch_size=32)`), or all at once
    (`arrays(x, y, options=PipelineOptions(batch_size=32))`).

    Attributes:
      batch_size: Rows in a batch.
      shuffle: Whether each epoch has a random order of its own.
      num_epochs: Passes over the rows; None repeats indefinitely.
      seed: Seed of the shuffle; None draws one, or follows TensorFlow's global seed.
      buffer_size: The shuffle moves a row by fewer places than this; None means anywhere, for
        files that are read as a stream within 10,000 rows.
      prefetch_buffer_size: Batches made ahead of their use; None lets tf.data choose.
      prefetch_device: Device on which batches are waiting, such as '/gpu:0'; None keeps them in the
        host's memory, from where a strategy prefetches to its own devices. Where such a pipeline
        has come to cannot be saved.
      drop_remainder: Whether a last batch with fewer than `batch_size` rows is left out.
      cache: 'memory' or the path of a file that decoded rows are kept in from their first use
        on, for sources that decode (pictures); None keeps none.
      num_parallel_calls: Rows or batches worked on at a time; None takes one for each processor.
      deterministic: Whether the order is always the same for the same seed; False may be faster.
      input_context: This pipeline's place among others, which read the other rows; None reads all.
      private_threads: Threads of a pool of the pipeline's own; None shares the session's.
      on_bad_record: 'raise' stops with an error that names a record that cannot be read; 'skip'
        leaves it out.
      max_bad_records: How many records may be left out before it is an error after all; None does
        not stop.
      bad_records_file: A file to which a line is added for each record left out; None writes none.
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
    def of(cls, settings: Mapping[str, Any], **listed: Any) -> "PipelineOptions":
        """Makes PipelineOptions of the arguments that a source was given.

        Args:
          settings: Settings by name, and `options`, which has those that are not named.
          **listed: Settings that the source lists as arguments; `options` take their place.

        Raises:
          TypeError: There is no setting of such a name.
          ValueError: A value is out of its range.
        """
        named = {name: value for name, value in settings.items() if name != "options"}
        known = [field.name for field in dataclasses.fields(cls)]
        strange = [name for name in named if name not in known]
        if strange:
            raise TypeError(
                f"There is no argument {', '.join(map(repr, strange))}. The settings of a pipeline "
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
        """The number of rows or batches worked on at a time."""
        return self.num_parallel_calls or os.cpu_count() or 1

    @property
    def pipelines(self) -> int:
        """How many pipelines share the rows."""
        return self.input_context.num_input_pipelines if self.input_context else 1

    @property
    def pipeline(self) -> int:
        """The index of this pipeline among them, from 0."""
        return self.input_context.input_pipeline_id if self.input_context else 0

    def share_of(self, count: int) -> int:
        """How many of `count` rows are this pipeline's, which takes every n-th row.

        Raises:
          ValueError: There are too few rows for it.
        """
        share = len(range(self.pipeline, count, self.pipelines))
        if share == 0:
            raise ValueError(
                f"{count} row(s) are too few for {self.pipelines} input pipelines: number "
                f"{self.pipeline} gets none. Train with fewer workers, or on more data."
            )
        return share

    def cardinality(self, count: int) -> int:
        """Returns how many batches come of `count` rows in each epoch.

        Args:
          count: Rows of one epoch.

        Returns:
          The number of batches, or `tf.data.INFINITE_CARDINALITY`.

        Raises:
          ValueError: It is 0.
        """
        if self.num_epochs is None:
            return tf.data.INFINITE_CARDINALITY
        whole, rest = divmod(count * self.num_epochs, self.batch_size)
        if rest and not self.drop_remainder:
            return whole + 1
        if whole == 0:
            raise ValueError(
                f"batch_size={self.batch_size} with drop_remainder=True leaves no batch of "
                f"{count} rows in {self.num_epochs} epoch(s): make the batches smaller, or "
                "let drop_remainder be False."
            )
        return whole

    def finish(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        """Adds the last stages: prefetching, and what holds for all of them."""
        if self.private_threads is not None or not self.deterministic:
            options = tf.data.Options()
            options.deterministic = self.deterministic
            if self.private_threads is not None:
                options.threading.private_threadpool_size = self.private_threads
            dataset = dataset.with_options(options)
        if self.prefetch_device is None:
            return dataset.prefetch(self.prefetch)
        # It needs a number; with two batches one is copied while a step uses the other.
        size = 2 if self.prefetch == tf.data.AUTOTUNE else self.prefetch
        return dataset.apply(tf.data.experimental.prefetch_to_device(self.prefetch_device, size))
