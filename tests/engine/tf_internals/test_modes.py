"""Tests of the fast check for eager code, against TensorFlow's own."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.eager import context as eager_context
from tensorflow.python.framework import ops as framework_ops

from estimator_train.engine.tf_internals import modes


def _check() -> Any:
    """Returns the fast check, whose attribute `__wrapped__` is TensorFlow's."""
    modes.check_eager_mode_fast()
    return framework_ops.executing_eagerly_outside_functions


@contextlib.contextmanager
def _function_in_graph() -> Iterator[None]:
    with tf.Graph().as_default(), tf.__internal__.FuncGraph("f").as_default():
        yield


@contextlib.contextmanager
def _graph_mode_in_eager_code_in_graph() -> Iterator[None]:
    with tf.Graph().as_default(), modes.enter_eager_mode(), eager_context.graph_mode():
        yield


@contextlib.contextmanager
def _eager_code_in_graph() -> Iterator[None]:
    with tf.Graph().as_default(), modes.enter_eager_mode():
        yield


@contextlib.contextmanager
def _outer_scope_of_function() -> Iterator[None]:
    with tf.__internal__.FuncGraph("f").as_default(), tf.init_scope():
        yield


_CONTEXTS: dict[str, tuple[Callable[[], Any], bool]] = {
    "eager": (contextlib.nullcontext, True),
    "graph": (lambda: tf.Graph().as_default(), False),
    "function": (lambda: tf.__internal__.FuncGraph("f").as_default(), True),
    "function_in_graph": (_function_in_graph, False),
    "eager_in_graph": (_eager_code_in_graph, True),
    "graph_mode_in_eager_in_graph": (_graph_mode_in_eager_code_in_graph, True),
    "init_scope_of_function": (_outer_scope_of_function, True),
}


@pytest.mark.parametrize("name", _CONTEXTS)
def test_fast_check_agrees_with_tensorflow(name: str) -> None:
    check = _check()
    make_context, expected = _CONTEXTS[name]
    with make_context():
        assert (check(), check.__wrapped__()) == (expected, expected)


def test_set_of_variables_enters_no_graph() -> None:
    original = _check().__wrapped__.__code__
    entered = []

    def record(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code is original:
            entered.append(frame)

    with tf.Graph().as_default():
        variables = [tf.compat.v1.get_variable(f"v{n}", []) for n in range(3)]
        sys.setprofile(record)
        try:
            assert variables[1] in set(variables)
        finally:
            sys.setprofile(None)
    assert not entered
