"""Stand-in for `tf.contrib.eager`: eager execution under its old names."""

import functools
import inspect
from collections.abc import Callable, Iterator as _Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Nest

_v1 = tf.compat.v1
_Function = Callable[..., Any]
Variable = tf.Variable
Checkpoint = tf.train.Checkpoint
GradientTape = tf.GradientTape
TensorSpec = tf.TensorSpec
defun = function = tf.function
py_func = tf.py_function
make_template = _v1.make_template
enable_eager_execution = _v1.enable_eager_execution
executing_eagerly = _v1.executing_eagerly
in_eager_mode = _v1.executing_eagerly
custom_gradient = tf.custom_gradient


class Iterator:
    """Iterator over the elements of a dataset."""

    def __init__(self, dataset: tf.data.Dataset) -> None:
        self._elements = iter(dataset)

    def __iter__(self) -> _Iterator[Any]:
        return self

    def __next__(self) -> Nest:
        return next(self._elements)

    def next(self) -> Nest:
        """Returns the next element; raises StopIteration after the last."""
        return next(self)

    def get_next(self, name: str | None = None) -> Nest:
        """Returns the next element; raises OutOfRangeError after the last."""
        del name
        return self._elements.get_next()

    @property
    def output_types(self) -> Nest:
        """The dtypes of an element."""
        return _v1.data.get_output_types(self._elements)

    @property
    def output_shapes(self) -> Nest:
        """The shapes of an element."""
        return _v1.data.get_output_shapes(self._elements)

    @property
    def output_classes(self) -> Nest:
        """The classes of an element's parts."""
        return _v1.data.get_output_classes(self._elements)


def implicit_value_and_gradients(f: _Function) -> _Function:
    """Wraps a function to return its value and the gradients of the variables that it reads.

    Args:
      f: Function to differentiate.

    Returns:
      A function of the same arguments that returns the value of `f` and a list of pairs of gradient
      and trainable variable. It raises ValueError if `f` returns None or reads no trainable
      variable.
    """

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        with tf.GradientTape() as tape:
            value = _call_with_check(f, args, kwargs)
        variables = sorted(tape.watched_variables(), key=lambda variable: variable.handle._id)
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being computed."
            )
        gradients = tape.gradient(value, variables)
        return value, list(zip(gradients, variables, strict=True))

    return wrapper


def implicit_gradients(f: _Function) -> _Function:
    """Wraps a function to return gradients only; see `implicit_value_and_gradients`."""
    return _return_gradients_only(implicit_value_and_gradients(f))


def value_and_gradients_function(
    f: _Function, params: Sequence[int | str] | None = None
) -> _Function:
    """Wraps a function to return its value and the gradients of its arguments.

    Args:
      f: Function to differentiate.
      params: Positions or names of the arguments; all by default.

    Returns:
      A function of the same arguments that returns the value of `f` and a list of gradients. It
      raises ValueError if `f` returns None or has no argument of a given name.
    """

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        output_gradient = kwargs.pop("dy", None)
        bound = inspect.signature(f).bind(*args, **kwargs)
        names = list(inspect.signature(f).parameters)
        tensors = [tf.convert_to_tensor(one) for one in bound.args]
        sources = [
            tensors[names.index(one) if isinstance(one, str) else one]
            for one in (range(len(tensors)) if params is None else params)
        ]
        with tf.GradientTape() as tape:
            for tensor in sources:
                tape.watch(tensor)
            value = _call_with_check(f, tensors, bound.kwargs)
        return value, tape.gradient(value, sources, output_gradient)

    return wrapper


def gradients_function(f: _Function, params: Sequence[int | str] | None = None) -> _Function:
    """Wraps a function to return gradients only; see `value_and_gradients_function`."""
    return _return_gradients_only(value_and_gradients_function(f, params))


def _return_gradients_only(value_and_gradients: _Function) -> _Function:
    @functools.wraps(value_and_gradients)
    def wrapper(*args: Any, **kwargs: Any) -> list[Any]:
        return value_and_gradients(*args, **kwargs)[1]

    return wrapper


def _call_with_check(f: _Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    value = f(*args, **kwargs)
    if value is None:
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget to return a value "
            f"from {f.__name__}?"
        )
    return value


def num_gpus() -> int:
    """Returns the number of GPUs of this process."""
    return len(tf.config.list_logical_devices("GPU"))


def list_devices() -> list[str]:
    """Returns the names of the devices of this process."""
    return [device.name for device in tf.config.list_logical_devices()]


def run(main: Callable[..., Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Runs a program; see `tf.app.run`."""
    _v1.app.run(main, argv)
