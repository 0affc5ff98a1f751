"""Predictors, and how they give batches to a session."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from estimator_train.engine.tf_internals import sessions

ArrayLike: TypeAlias = npt.ArrayLike
Batch: TypeAlias = ArrayLike | Mapping[str, ArrayLike]

NO_OBJECT = object()  # None is an element that is no string.
_MAX_WARNINGS = 10
_EXAMPLES = (
    " '{}' takes serialized tf.Examples: give the SerializeToString() of a tf.train.Example with "
    "the features, or export with build_raw_serving_input_receiver_fn."
)


def explain_examples(tensors: Mapping[str, tf.Tensor]) -> str:
    """Returns a sentence that names the input that takes tf.Examples; "" without one.

    Args:
      tensors: The inputs of a model by name.
    """
    for name, tensor in tensors.items():
        consumers = tensor.consumers() if tensor.dtype == tf.string else []
        if any(operation.type.startswith("ParseExample") for operation in consumers):
            return _EXAMPLES.format(name)
    return ""


def find_other_object(value: np.ndarray) -> object:
    """Returns the first element of an array of strings that is no string, such as None.

    Args:
      value: The array.

    Returns:
      The element; `NO_OBJECT` without one.
    """
    texts = (str, bytes)
    objects = value.flat if value.dtype == object else ()
    return next((entry for entry in objects if not isinstance(entry, texts)), NO_OBJECT)


def convert_to_input_array(name: str, value: ArrayLike, tensor: tf.Tensor) -> np.ndarray:
    """Converts a value to an array with the dtype of an input.

    Args:
      name: Name of the input, for errors.
      value: An array or nested list.
      tensor: The input.

    Raises:
      ValueError: The shape or the type of the value does not match the input.
    """
    array = _cast(name, value, tensor)
    if not tensor.shape.is_compatible_with(array.shape):
        is_single_example = tensor.shape.rank == array.ndim + 1
        hint = " Put a single example into a list, to make a batch." if is_single_example else ""
        raise ValueError(
            f"'{name}' has the shape {array.shape}, but the model takes {tensor.shape}.{hint}"
        )
    return array


def make_placeholder(value: ArrayLike) -> tf.Tensor:
    """Creates a placeholder in the default graph for values like this one, of any batch size.

    Args:
      value: An array or nested list; a scalar has no batch dimension.
    """
    example = value if isinstance(value, (np.ndarray, np.generic)) else _to_tensorflow_array(value)
    shape = [None, *example.shape[1:]] if example.ndim else []
    dtype = tf.string if example.dtype.kind in "SUOT" else tf.as_dtype(example.dtype)
    return tf.compat.v1.placeholder(dtype, shape)


def _to_tensorflow_array(value: ArrayLike) -> np.ndarray:
    """Converts Python numbers to float32 and int32, as TensorFlow does."""
    array = np.asarray(value)
    narrow = {"f": np.float32, "i": np.int32}.get(array.dtype.kind)
    is_wide = array.dtype in (np.float64, np.int64) and not hasattr(value, "dtype")
    return array.astype(narrow) if narrow and is_wide else array


def _cast(name: str, value: ArrayLike, tensor: tf.Tensor) -> np.ndarray:
    dtype = tensor.dtype
    expected = dtype.as_numpy_dtype
    array = np.asarray(value)
    if not array.size and not hasattr(value, "dtype"):
        array = array.astype(expected)  # An empty list has no type.
    if array.dtype == expected:
        return array
    if dtype == tf.string:
        if array.dtype.kind not in "SUT":
            hint = explain_examples({name: tensor})
            raise ValueError(f"'{name}' is {array.dtype}, but the model takes strings.{hint}")
        # NumPy's own type of strings drops trailing zero bytes, which serialized messages may have.
        return np.asarray(value, object)
    if not np.can_cast(array.dtype, expected, casting="same_kind"):
        raise ValueError(
            f"'{name}' is {array.dtype}, but the model takes {np.dtype(expected)}; convert it."
        )
    result = array.astype(expected)
    if array.dtype.kind in "iu" and (is_other := np.asarray(result != array)).any():
        # As under tf.estimator, such a number is no error.
        tf.compat.v1.logging.log_first_n(
            tf.compat.v1.logging.WARN,
            "'%s' has the number %s, which %s of the model does not hold: it becomes %s.",
            _MAX_WARNINGS,
            name,
            array[is_other].flat[0],
            np.dtype(expected),
            result[is_other].flat[0],
        )
    return result


class NotStringsError(tf.errors.InternalError, ValueError):  # type: ignore[misc]
    """Error for an object that is no string in an input of strings."""


class MissingInputError(tf.errors.InvalidArgumentError, ValueError):  # type: ignore[misc]
    """A batch lacks an input that the outputs need."""


class Predictor:
    """Predictor of a session's outputs. Several threads may call it at the same time.

    Args:
      session: A session with initialized variables; the predictor closes it.
      feed_tensors: Maps input names to the tensors to feed.
      fetch_tensors: Maps output names to the tensors to compute.

    Attributes:
      session: The session.
      graph: The graph of the session.
      feed_tensors: Maps input names to the tensors to feed.
      fetch_tensors: Maps output names to the tensors to compute.
    """

    def __init__(
        self,
        session: tf.compat.v1.Session,
        feed_tensors: Mapping[str, tf.Tensor],
        fetch_tensors: Mapping[str, tf.Tensor],
    ) -> None:
        self.session = session
        self.graph = session.graph
        self.feed_tensors = dict(feed_tensors)
        self.fetch_tensors = dict(fetch_tensors)
        self._names = list(self.fetch_tensors)
        self._process = os.getpid()
        self._run: Callable[..., list[Any]] | None = _make_call(
            session, list(self.feed_tensors.values()), list(self.fetch_tensors.values())
        )

    def predict(self, batch: Batch) -> dict[str, Any]:
        """Computes the outputs for one batch.

        Args:
          batch: Maps input names to values, which are arrays or nested lists; or a single value if
            there is only one input. Numbers are cast to the dtype of the input. Inputs that the
            outputs do not need may be missing or None.

        Returns:
          Maps output names to NumPy values.

        Raises:
          ValueError: The names or shapes of the batch do not match the inputs, an input that the
            outputs need is missing (also an InvalidArgumentError), or the predictor is closed.
          RuntimeError: Another process opened the predictor, and forked this one.
        """
        run = self._run
        if run is None:
            raise ValueError("This predictor is closed; open another one for further batches.")
        sessions.check_opened_here(self._process)
        values = _as_inputs(batch, self.feed_tensors)
        inputs = {
            name: convert_to_input_array(name, values[name], tensor)
            for name, tensor in self.feed_tensors.items()
            if values.get(name) is not None
        }
        if len(inputs) < len(self.feed_tensors):
            return self._predict_from_some(inputs)
        try:
            return dict(zip(self._names, run(*inputs.values()), strict=True))
        except tf.errors.InternalError as error:
            self._explain_objects(inputs, error)
            raise

    __call__ = predict

    def _predict_from_some(self, inputs: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Computes the outputs from some of the inputs."""
        feeds = {self.feed_tensors[name]: value for name, value in inputs.items()}
        try:
            outputs: dict[str, Any] = self.session.run(self.fetch_tensors, feeds)
        except tf.errors.InvalidArgumentError as error:
            missing = sorted(set(self.feed_tensors) - set(inputs))
            if "must feed a value" not in error.message:
                raise
            raise MissingInputError(
                error.node_def,
                error.op,
                f"The batch has no values for the inputs {missing}, but the outputs "
                f"{sorted(self.fetch_tensors)} need them: {error.message.splitlines()[0]}",
            ) from error
        return outputs

    def _explain_objects(
        self, inputs: Mapping[str, np.ndarray], error: tf.errors.InternalError
    ) -> None:
        """Raises NotStringsError if an input of strings has another object."""
        for name, value in inputs.items():
            other = find_other_object(value)
            if other is not NO_OBJECT:
                raise NotStringsError(
                    error.node_def,
                    error.op,
                    f"'{name}' has {other!r} of type {type(other).__name__}, but the model takes "
                    f"strings.{explain_examples({name: self.feed_tensors[name]})}",
                ) from None

    def close(self) -> None:
        """Releases the model, and cancels calls in other threads."""
        self._run = None
        if self._process == os.getpid():  # A forked process has no threads that could end.
            self.session.close()

    def __enter__(self) -> "Predictor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _make_call(
    session: tf.compat.v1.Session, feeds: Sequence[tf.Tensor], fetches: Sequence[tf.Tensor]
) -> Callable[..., list[Any]]:
    """Returns a function from the values of `feeds` to those of `fetches`.

    An output may be an input, and a tensor may have two names; only `Session.run` accepts these.
    """
    fed = {tensor.name for tensor in feeds}
    if not fetches:
        return lambda *_: []
    if len(fed) == len(feeds) and not any(tensor.name in fed for tensor in fetches):
        return sessions.prepare_session_call(session, feeds, fetches)
    return lambda *values: session.run(fetches, dict(zip(feeds, values, strict=True)))


def _as_inputs(batch: Batch, feed_tensors: Mapping[str, tf.Tensor]) -> Mapping[str, ArrayLike]:
    """Returns the batch as a mapping from input names.

    Raises:
      ValueError: The batch has other names.
    """
    if not isinstance(batch, Mapping):
        if len(feed_tensors) != 1:
            raise ValueError(
                f"The model has the inputs {sorted(feed_tensors)}, so a batch must be a dict with "
                f"these keys, but got {type(batch).__name__}."
            )
        return {next(iter(feed_tensors)): batch}
    unexpected = sorted(set(batch) - set(feed_tensors))
    if unexpected:
        hint = explain_examples(feed_tensors)
        raise ValueError(
            f"Got unexpected keys in input_dict: {unexpected}\nexpected: {sorted(feed_tensors)}"
            + (f".{hint}" if hint else "")
        )
    return batch
