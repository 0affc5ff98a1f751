"""Modes in which code runs: AutoGraph, eager, and the behaviour of TensorFlow 2."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

import tensorflow as tf

# Why internal: AutoGraph can be told of a function, not of a package (see `never_convert`).
from tensorflow.python.autograph.core import config as autograph_rules

# Why internal: TensorFlow's code calls these functions of its modules, not the public names (see
# `check_eager_mode_fast`).
from tensorflow.python.eager import context as eager_context
from tensorflow.python.framework import ops as framework_ops

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


@functools.cache
def check_eager_mode_fast() -> None:
    """Makes TensorFlow's check for eager code outside of functions fast in plain graphs.

    TensorFlow enters the outermost graph or eager context for each check, which takes 20 to 40
    microseconds. Each hash and each comparison of a variable makes the check, and a layer of Keras
    puts all variables of the graph into a set, for each of its weights. In a plain graph the answer
    is known: that graph is the outermost context, and it is not eager.

    Why internal: the classes of variables call the function of their private module.
    """
    check = framework_ops.executing_eagerly_outside_functions

    @functools.wraps(check)
    def executing_eagerly_outside_functions() -> bool:
        switches = eager_context.context().context_switches.stack
        if switches and not switches[-1].is_building_function:
            entered = getattr(switches[-1].enter_context_fn, "__self__", None)
            # Code may also have entered the eager context later.
            if type(entered) is tf.Graph and entered is tf.compat.v1.get_default_graph():
                return bool(eager_context.executing_eagerly())
        return bool(check())

    framework_ops.executing_eagerly_outside_functions = executing_eagerly_outside_functions
