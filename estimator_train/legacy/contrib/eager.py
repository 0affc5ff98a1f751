"""`tf.contrib.eager`: eager execution by its old place."""

import functools
import inspect
from collections.abc import Callable, Iterator as _Iterator, Sequence
from typing import Any

import tensorflow as tf

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
    """The elements of a dataset, one after the other."""

    def __init__(self, dataset: tf.data.Dataset) -> None:
        self._elements = iter(dataset)

    def __iter__(self) -> _Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    def next(self) -> Any:
        """The next element; raises StopIteration after the last."""
        return next(self)

    def get_next(self, name: str | None = None) -> Any:
        """The next element; raises OutOfRangeError after the last."""
        del name
        return self._elements.get_next()

    @property
    def output_types(self) -> Any:
        """The dtypes of an element."""
        return _v1.data.get_output_types(self._elements)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element."""
        return _v1.data.get_output_shapes(self._elements)

    @property
    def output_classes(self) -> Any:
        """The classes of an element's parts."""
        return _v1.data.get_output_classes(self._elements)


def implicit_value_and_gradients(f: _Function) -> _Function:
    """A function that returns what `f` does, and gradients to the variables it reads.

    Args:
      f: A function.

    Returns:
      A function of the same arguments, which returns the value of `f` and a list of pairs of
      gradient and trainable variable. It raises ValueError if `f` returns None or reads no
      trainable variable.
    """

    @functools.wraps(f)
    def found(*arguments: Any, **named: Any) -> tuple[Any, list[Any]]:
        with tf.GradientTape() as tape:
            value = _value(f, arguments, named)
        variables = sorted(tape.watched_variables(), key=lambda variable: variable.handle._id)
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being computed."
            )
        gradients = tape.gradient(value, variables)
        return value, list(zip(gradients, variables, strict=True))

    return found


def implicit_gradients(f: _Function) -> _Function:
    """As `implicit_value_and_gradients`, without the value."""
    return _without_value(implicit_value_and_gradients(f))


def value_and_gradients_function(
    f: _Function, params: Sequence[int | str] | None = None
) -> _Function:
    """A function that returns what `f` does, and gradients to its arguments.

    Args:
      f: A function.
      params: Positions or names of arguments; all by default.

    Returns:
      A function of the same arguments, which returns the value of `f` and a list of gradients. It
      raises ValueError if `f` returns None or has no argument of such a name.
    """

    @functools.wraps(f)
    def found(*arguments: Any, **named: Any) -> tuple[Any, list[Any]]:
        above = named.pop("dy", None)
        bound = inspect.signature(f).bind(*arguments, **named)
        names = list(inspect.signature(f).parameters)
        tensors = [tf.convert_to_tensor(one) for one in bound.args]
        chosen = [
            tensors[names.index(one) if isinstance(one, str) else one]
            for one in (range(len(tensors)) if params is None else params)
        ]
        with tf.GradientTape() as tape:
            for tensor in chosen:
                tape.watch(tensor)
            value = _value(f, tensors, bound.kwargs)
        return value, tape.gradient(value, chosen, above)

    return found


def gradients_function(f: _Function, params: Sequence[int | str] | None = None) -> _Function:
    """As `value_and_gradients_function`, without the value."""
    return _without_value(value_and_gradients_function(f, params))


def _without_value(both: _Function) -> _Function:
    @functools.wraps(both)
    def found(*arguments: Any, **named: Any) -> list[Any]:
        return both(*arguments, **named)[1]

    return found


def _value(f: _Function, arguments: Sequence[Any], named: Any) -> Any:
    value = f(*arguments, **named)
    if value is None:
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget to return a value "
            f"from {f.__name__}?"
        )
    return value


def num_gpus() -> int:
    """The number of this process's GPUs."""
    return len(tf.config.list_logical_devices("GPU"))


def list_devices() -> list[str]:
    """The names of this process's devices."""
    return [device.name for device in tf.config.list_logical_devices()]


def run(main: Any = None, argv: Any = None) -> None:
    """See `tf.app.run`."""
    _v1.app.run(main, argv)
