"""Readers of time series, and input_fns that make batches of windows."""

import abc
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import Nest, TensorLike
from tf_contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
    TrainEvalFeatures,
)

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
Features = dict[str, Any]


class TimeSeriesReader(abc.ABC):
    """Reader of one series."""

    @abc.abstractmethod
    def read_full(self) -> Features:
        """Returns the complete series: times [length], and other features [length, size]."""


class NumpyReader(TimeSeriesReader):
    """Reader of a series in memory.

    Args:
      data: Features by name: "times", a vector of integers, and "values" and others, vectors or
        matrices with one row for each time.
      read_num_records_hint: Unused.

    Raises:
      ValueError: times or values are missing, or a feature has another length than the times.
    """

    def __init__(self, data: Mapping[str, Any], read_num_records_hint: int = 4096) -> None:
        del read_num_records_hint
        if _TIMES not in data or _VALUES not in data:
            raise ValueError(f"times and values are required features; data has {sorted(data)}.")
        self._data = {name: np.asarray(values) for name, values in data.items()}
        times = self._data[_TIMES].shape
        for name, values in self._data.items():
            if values.shape[: len(times)] != times:
                raise ValueError(
                    "All features must have their shapes prefixed by the shape of the times "
                    f"feature. Got shape {values.shape} for feature '{name}', but shape {times} "
                    "for 'times'"
                )

    def read_full(self) -> Features:
        """See the base class."""
        features: Features = {name: tf.constant(values) for name, values in self._data.items()}
        features[_TIMES] = tf.cast(features[_TIMES], tf.int64)
        if features[_VALUES].shape.rank == 1:
            features[_VALUES] = features[_VALUES][:, None]
        return features


class CSVReader(TimeSeriesReader):
    """Reader of a series in CSV files, with a line for each time.

    Args:
      filenames: File, or list of files that continue each other.
      column_names: Feature of each column; columns with the same name form one feature.
      column_dtypes: Type of each column; by default int64 for times and float32 for others.
      skip_header_lines: Number of lines to skip at the start of each file.
      read_num_records_hint: Unused.

    Raises:
      ValueError: There is not exactly one column of times, there are no values, or column_dtypes
        has another length than column_names.
    """

    def __init__(
        self,
        filenames: str | Sequence[str],
        column_names: Sequence[str] = (_TIMES, _VALUES),
        column_dtypes: Sequence[Any] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ) -> None:
        del read_num_records_hint
        self._filenames = [filenames] if isinstance(filenames, str) else list(filenames)
        self._names = list(column_names)
        for name in (_TIMES, _VALUES):
            if name not in self._names:
                raise ValueError(f"'{name}' is a required column.")
        if self._names.count(_TIMES) > 1:
            raise ValueError(
                f"Got more than one times column ('{_TIMES}'), but exactly one is required."
            )
        if column_dtypes and len(column_dtypes) != len(self._names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names "
                f"(got column_dtypes={column_dtypes} and column_names={column_names})."
            )
        self._dtypes = column_dtypes or [
            tf.int64 if name == _TIMES else tf.float32 for name in self._names
        ]
        self._num_header_lines = skip_header_lines or 0

    def read_full(self) -> Features:
        """See the base class."""
        lines = tf.concat([self._read_lines(name) for name in self._filenames], 0)
        columns = tf.io.decode_csv(lines, [tf.zeros([0], dtype) for dtype in self._dtypes])
        grouped: dict[str, list[tf.Tensor]] = {name: [] for name in self._names}
        for name, column in zip(self._names, columns, strict=True):
            grouped[name].append(column)
        return {
            name: columns_of_feature[0] if name == _TIMES else tf.stack(columns_of_feature, 1)
            for name, columns_of_feature in grouped.items()
        }

    def _read_lines(self, filename: str) -> tf.Tensor:
        text = tf.strings.regex_replace(tf.io.read_file(filename), "\r\n", "\n")
        lines = tf.strings.split(text, "\n")[self._num_header_lines :]
        return tf.boolean_mask(lines, tf.strings.length(lines) > 0)


class TFExampleReader(TimeSeriesReader):
    """Reader of a series in files of tf.Examples, one for each time.

    Args:
      filenames: File, or list of files that continue each other.
      features: `tf.io.FixedLenFeature` of each feature by name, with times and values.

    Raises:
      ValueError: times or values are missing.
    """

    def __init__(self, filenames: str | Sequence[str], features: Mapping[str, Any]) -> None:
        for name in (_TIMES, _VALUES):
            if name not in features:
                raise ValueError(f"features must contain {name!r}, got {sorted(features)}.")
        self._filenames = [filenames] if isinstance(filenames, str) else list(filenames)
        self._features = dict(features)

    def read_full(self) -> Features:
        """See the base class."""
        records = tf.data.TFRecordDataset(self._filenames)
        length = records.reduce(tf.constant(0, tf.int64), lambda count, _: count + 1)
        examples = tf.data.experimental.get_single_element(records.batch(length))
        parsed = tf.io.parse_example(examples, self._features)
        parsed[_TIMES] = tf.reshape(parsed[_TIMES], [-1])
        return {
            name: values if name == _TIMES or values.shape.rank > 1 else values[:, None]
            for name, values in parsed.items()
        }


class TimeSeriesInputFn(abc.ABC):
    """Input function of a time series estimator."""

    def __call__(self) -> tuple[Features, Any]:
        """Calls `create_batch`."""
        return self.create_batch()

    @abc.abstractmethod
    def create_batch(self) -> tuple[Features, Any]:
        """Returns a batch of windows as features of shape [num_windows, window, ...]."""


class WholeDatasetInputFn(TimeSeriesInputFn):
    """Input function that repeats the complete series as one window."""

    def __init__(self, time_series_reader: TimeSeriesReader) -> None:
        self._reader = time_series_reader

    def create_batch(self) -> tuple[Features, Any]:
        """See the base class."""
        return _get_next_batch(_create_dataset(self._reader).batch(1, drop_remainder=True).repeat())


class RandomWindowInputFn(TimeSeriesInputFn):
    """Input function of batches of windows that start at random times.

    The arguments that are not listed are unused: there are no queues.

    Args:
      time_series_reader: Reader of the series.
      window_size: Number of times in a window.
      batch_size: Number of windows in a batch.
      jitter: Whether windows start at any time instead of at multiples of window_size.
      shuffle_seed: Random seed.
    """

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int = 2,
        shuffle_seed: int | None = None,
    ) -> None:
        del queue_capacity_multiplier, shuffle_min_after_dequeue_multiplier, num_threads
        del discard_out_of_order, discard_consecutive_batches_limit
        self._reader = time_series_reader
        self._window_size = window_size
        self._batch_size = batch_size
        self._jitter = jitter
        self._seed = shuffle_seed

    def create_batch(self) -> tuple[Features, Any]:
        """See the base class."""
        seed = _v1.get_default_graph().seed if self._seed is None else self._seed
        windows = functools.partial(self._create_windows, seed=seed)
        return _get_next_batch(_create_dataset(self._reader).flat_map(windows))

    def _create_windows(self, series: Features, seed: int | None) -> tf.data.Dataset:
        length, window = tf.size(series[_TIMES], tf.int64), self._window_size
        is_long_enough = tf.debugging.Assert(
            length >= window,
            [f"The series must have at least window_size={self._window_size} times, but has",
             length],
        )  # fmt: skip

        def batch(numbers: tf.Tensor) -> Features:
            starts = numbers % num_starts if self._jitter else numbers % (length // window) * window
            indices = starts[:, None] + tf.range(window, dtype=tf.int64)
            return {name: tf.gather(values, indices) for name, values in series.items()}

        with tf.control_dependencies([is_long_enough]):
            num_starts = length - window + 1
        numbers = tf.data.Dataset.random(seed).batch(self._batch_size, drop_remainder=True)
        return numbers.map(batch)


def predict_continuation_input_fn(
    evaluation: Mapping[str, Any],
    steps: int | None = None,
    times: TensorLike | None = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> Callable[[], tuple[Features, Any]]:
    """Creates the input_fn of a prediction that continues an evaluation.

    Args:
      evaluation: Result of `evaluate`.
      steps: Number of times to predict after the evaluation.
      times: Times to predict, instead of steps: [num_series, window], or [window] for one series.
      exogenous_features: Arrays [num_series, window, ...] of features that are not predicted.

    Raises:
      ValueError: Not exactly one of steps and times is given, or a time is not after the
        evaluation.
    """
    features = create_continuation(evaluation, steps, times, exogenous_features)
    state = _convert_lists_to_tuples(evaluation[FilteringResults.STATE_TUPLE])
    features[PredictionFeatures.STATE_TUPLE] = state
    return lambda: _get_next_batch(tf.data.Dataset.from_tensors(features))


def _convert_lists_to_tuples(state: Nest) -> Nest:
    """Converts the lists in a state to tuples, because a dataset treats lists as arrays."""
    return (
        tuple(map(_convert_lists_to_tuples, state)) if isinstance(state, (list, tuple)) else state
    )


def create_continuation(
    evaluation: Mapping[str, Any],
    steps: int | None,
    times: TensorLike | None,
    exogenous_features: Mapping[str, Any] | None,
) -> Features:
    """Returns the times and exogenous features of `predict_continuation_input_fn`."""
    if steps is None and times is None:
        raise ValueError("One of `steps` and `times` must be specified.")
    if steps is not None and times is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    last_times = np.asarray(evaluation[FilteringResults.TIMES])[:, -1:]
    times = np.asarray(times if steps is None else last_times + 1 + np.arange(steps), np.int64)
    times = times[None] if times.ndim == 1 else times
    if (times[:, :1] <= last_times).any():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    features = {name: np.asarray(values) for name, values in (exogenous_features or {}).items()}
    return {**features, PredictionFeatures.TIMES: times}


def _create_dataset(reader: TimeSeriesReader) -> tf.data.Dataset:
    """Creates a dataset whose only element is the complete series."""
    return tf.data.Dataset.from_tensors(0).map(lambda _: reader.read_full())


def _get_next_batch(dataset: tf.data.Dataset) -> tuple[Features, Any]:
    return _v1.data.make_one_shot_iterator(dataset).get_next(), None
