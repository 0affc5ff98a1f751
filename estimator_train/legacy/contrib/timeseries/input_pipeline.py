"""Readers of time series, and the input_fns that make batches of what they read."""

import abc
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.legacy.contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
    TrainEvalFeatures,
)

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
Features = dict[str, Any]


class TimeSeriesReader(abc.ABC):
    """Reads one series."""

    @abc.abstractmethod
    def read_full(self) -> Features:
        """The whole series: times [length], and [length, size] of each other feature."""


class NumpyReader(TimeSeriesReader):
    """A series in memory.

    Args:
      data: The feature "times", a vector of integers; "values" and maybe others, each a vector as
        long or a matrix with as many rows.
      read_num_records_hint: Unused: the series is in memory.

    Raises:
      ValueError: times or values are missing, or a feature is not as long as the times.
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
        read: Features = {name: tf.constant(values) for name, values in self._data.items()}
        read[_TIMES] = tf.cast(read[_TIMES], tf.int64)
        if read[_VALUES].shape.rank == 1:
            read[_VALUES] = read[_VALUES][:, None]
        return read


class CSVReader(TimeSeriesReader):
    """A series in files with a line for each time.

    Args:
      filenames: One file, or several whose lines follow each other.
      column_names: The feature of each column; columns of one name are one feature.
      column_dtypes: The dtype of each column; int64 of the times and float32 of others by default.
      skip_header_lines: How many lines each file has before those of the series.
      read_num_records_hint: Unused: files are read at once.

    Raises:
      ValueError: There is not exactly one column of times, or none of values, or not one dtype for
        each column.
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
        self._skipped = skip_header_lines or 0

    def read_full(self) -> Features:
        """See the base class."""
        lines = tf.concat([self._lines(name) for name in self._filenames], 0)
        columns = tf.io.decode_csv(lines, [tf.zeros([0], dtype) for dtype in self._dtypes])
        grouped: dict[str, list[tf.Tensor]] = {name: [] for name in self._names}
        for name, column in zip(self._names, columns, strict=True):
            grouped[name].append(column)
        return {
            name: found[0] if name == _TIMES else tf.stack(found, 1)
            for name, found in grouped.items()
        }

    def _lines(self, filename: str) -> tf.Tensor:
        text = tf.strings.regex_replace(tf.io.read_file(filename), "\r\n", "\n")
        lines = tf.strings.split(text, "\n")[self._skipped :]
        return tf.boolean_mask(lines, tf.strings.length(lines) > 0)


class TFExampleReader(TimeSeriesReader):
    """A series in files of tf.Examples, one for each time.

    Args:
      filenames: One file, or several that follow each other.
      features: Names of features, with times and values, to `tf.io.FixedLenFeature`.

    Raises:
      ValueError: times or values are missing.
    """

    def __init__(self, filenames: str | Sequence[str], features: Mapping[str, Any]) -> None:
        for name in (_TIMES, _VALUES):
            if name not in features:
                raise ValueError(f"features lack {name!r}; they are {sorted(features)}.")
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
    """An input_fn for a time series estimator."""

    def __call__(self) -> tuple[Features, Any]:
        """The same as `create_batch`."""
        return self.create_batch()

    @abc.abstractmethod
    def create_batch(self) -> tuple[Features, Any]:
        """A batch of windows as features, whose first two dimensions are series and time."""


class WholeDatasetInputFn(TimeSeriesInputFn):
    """The whole series as one window, again and again."""

    def __init__(self, time_series_reader: TimeSeriesReader) -> None:
        self._reader = time_series_reader

    def create_batch(self) -> tuple[Features, Any]:
        """See the base class."""
        return _batches(_series(self._reader).batch(1, drop_remainder=True).repeat())


class RandomWindowInputFn(TimeSeriesInputFn):
    """Batches of windows that begin anywhere in the series.

    The other arguments are unused: there are no queues.

    Args:
      time_series_reader: Reads the series.
      window_size: How many times a window has.
      batch_size: How many windows a batch has.
      jitter: Whether windows begin at all times, or only at multiples of window_size.
      shuffle_seed: Makes the windows the same each time.
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
        windows = functools.partial(self._windows, seed=seed)
        return _batches(_series(self._reader).flat_map(windows))

    def _windows(self, series: Features, seed: int | None) -> tf.data.Dataset:
        length, window = tf.size(series[_TIMES], tf.int64), self._window_size
        enough = tf.debugging.Assert(
            length >= window,
            [f"The series is shorter than window_size={self._window_size}, for its length is",
             length],
        )  # fmt: skip

        def batch(numbers: tf.Tensor) -> Features:
            starts = numbers % places if self._jitter else numbers % (length // window) * window
            chosen = starts[:, None] + tf.range(window, dtype=tf.int64)
            return {name: tf.gather(values, chosen) for name, values in series.items()}

        with tf.control_dependencies([enough]):
            places = length - window + 1
        numbers = tf.data.Dataset.random(seed).batch(self._batch_size, drop_remainder=True)
        return numbers.map(batch)


def predict_continuation_input_fn(
    evaluation: Mapping[str, Any],
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> Callable[[], tuple[Features, Any]]:
    """The input_fn of prediction after an evaluation.

    Args:
      evaluation: What `evaluate` returned.
      steps: How many times after those of the evaluation are to be predicted.
      times: Instead of steps: the times, an array [number of series, window] or, of one series,
        [window].
      exogenous_features: Arrays [number of series, window, ...] of the features that are not
        predicted.

    Raises:
      ValueError: Not exactly one of steps and times is given, or times are not after the
        evaluation's.
    """
    features = continuation(evaluation, steps, times, exogenous_features)
    state = _as_tuples(evaluation[FilteringResults.STATE_TUPLE])
    features[PredictionFeatures.STATE_TUPLE] = state
    return lambda: _batches(tf.data.Dataset.from_tensors(features))


def _as_tuples(state: Any) -> Any:
    """A state without lists, which a dataset would take for arrays."""
    return tuple(map(_as_tuples, state)) if isinstance(state, (list, tuple)) else state


def continuation(
    evaluation: Mapping[str, Any],
    steps: int | None,
    times: Any,
    exogenous_features: Mapping[str, Any] | None,
) -> Features:
    """The times and exogenous features of a prediction; see `predict_continuation_input_fn`."""
    if steps is None and times is None:
        raise ValueError("One of `steps` and `times` must be specified.")
    if steps is not None and times is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    last = np.asarray(evaluation[FilteringResults.TIMES])[:, -1:]
    times = np.asarray(times if steps is None else last + 1 + np.arange(steps), np.int64)
    times = times[None] if times.ndim == 1 else times
    if (times[:, :1] <= last).any():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    features = {name: np.asarray(values) for name, values in (exogenous_features or {}).items()}
    return {**features, PredictionFeatures.TIMES: times}


def _series(reader: TimeSeriesReader) -> tf.data.Dataset:
    """A dataset of one element: the whole series."""
    return tf.data.Dataset.from_tensors(0).map(lambda _: reader.read_full())


def _batches(dataset: tf.data.Dataset) -> tuple[Features, Any]:
    return _v1.data.make_one_shot_iterator(dataset).get_next(), None
