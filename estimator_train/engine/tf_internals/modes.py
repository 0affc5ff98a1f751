"""Modes in which code runs: AutoGraph, eager, and the behaviour of TensorFlow 2."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeVar

import tensorflow as tf

# Why internal: AutoGraph can be told of a function, not of a package (see `never_convert`).
from tensorflow.python.autograph.core import config as autograph_rules

_Function = TypeVar("_Function", bound=Callable[..., object])
# AutoGraph's default status, with which Keras converts the layers it calls.
_DEFAULT_STATUS = tf.__internal__.autograph.control_status_ctx()


def never_convert(package: str) -> None:
    """Excludes a package from AutoGraph's conversion, like TensorFlow itself.

    Why internal: the public decorator would have to stand at each function of a package.
    """
    rule = autograph_rules.DoNotConvert(package)
    autograph_rules.CONVERSION_RULES = (rule, *autograph_rules.CONVERSION_RULES)


def convert(function: _Function) -> _Function:
    """Returns a function converted by AutoGraph as the calling function is.

    Why internal: `tf.autograph.to_graph` ignores `do_not_convert` of its callers.
    """
    status = tf.__internal__.autograph.control_status_ctx()
    return tf.__internal__.autograph.tf_convert(function, status)


def convert_callees(function: _Function) -> _Function:
    """Returns a function whose calls AutoGraph converts, but not the function itself.

    Why internal: Keras calls layers in this way, and the public API has no such conversion.
    """
    return tf.__internal__.autograph.tf_convert(function, _DEFAULT_STATUS, convert_by_default=False)


def enter_eager_mode() -> contextlib.AbstractContextManager[None]:
    """Runs code in the context eagerly, although a graph is the default.

    Why internal: `tf.init_scope` returns to the outermost context, which is a graph if the program
    disabled eager execution.
    """
    return tf.__internal__.eager_context.eager_mode()


def has_v2_behavior() -> bool:
    """Returns whether the program left the behaviour of TensorFlow 2 enabled.

    Why internal: only the switches are public.
    """
    return tf.__internal__.tf2.enabled()


@contextlib.contextmanager
def make_function_graph(name: str) -> Iterator[None]:
    """Makes the graph of a function the default graph: variables are created outside of it.

    Why internal: tf.function creates variables in such a graph only in eager code.
    """
    with tf.__internal__.FuncGraph(name).as_default():
        yield
