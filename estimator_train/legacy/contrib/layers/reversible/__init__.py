"""`tf.contrib.layers.rev_block` and `recompute_grad`: gradients without kept activations.

Reversible layers are of Gomez, Ren, Urtasun, Grosse: "The Reversible Residual Network" (2017).
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_Function = Callable[..., Any]
_LAYER = "revlayer_{}"
_DEFAULT = "__rev_block_lib_default"


def rev_block(
    x1: Any,
    x2: Any,
    f: _Function | Sequence[_Function],
    g: _Function | Sequence[_Function],
    num_layers: int = 1,
    f_side_input: Sequence[Any] | None = None,
    g_side_input: Sequence[Any] | None = None,
    is_training: bool = True,
) -> tuple[Any, Any]:
    """Reversible layers: y1 = x1 + f(x2), y2 = x2 + g(y1), one after the other.

    In training the inputs of the layers are not kept for the gradients but computed from their
    outputs.

    Args:
      x1: A float tensor.
      x2: A float tensor.
      f: A function of a tensor, and of its side inputs if there are any; or one for each layer.
      g: As `f`.
      num_layers: The number of layers.
      f_side_input: A list of tensors that each `f` takes as second argument.
      g_side_input: A list of tensors that each `g` takes as second argument.
      is_training: False: gradients are those of TensorFlow, by the kept activations.

    Returns:
      y1 and y2 of the last layer.

    Raises:
      AssertionError: As many functions as layers were not given.
    """
    fs, gs = (list(one) if isinstance(one, (list, tuple)) else [one] * num_layers for one in (f, g))
    assert len(fs) == len(gs) == num_layers
    sides = list(f_side_input or ()), list(g_side_input or ())
    parts = [
        (_with_side(f, sides[0]), _with_side(g, sides[1])) for f, g in zip(fs, gs, strict=True)
    ]
    with _v1.variable_scope(None, "revblock", use_resource=True) as scope:
        if not is_training:
            return _forward(parts, x1, x2, *sides)
        inverted = _Inverted(scope, parts, [len(side) for side in sides])
        return tf.custom_gradient(inverted.forward)(x1, x2, *sides[0], *sides[1])


def _with_side(function: _Function, side: Sequence[Any]) -> _Function:
    """The function of a tensor and of side inputs, which it takes only where there are any."""
    return function if side else lambda x, _: function(x)


def _forward(parts: Sequence[Any], x1: Any, x2: Any, f_side: Any, g_side: Any) -> tuple[Any, Any]:
    for index, (f, g) in enumerate(parts):
        with _v1.variable_scope(_LAYER.format(index)):
            with _v1.variable_scope("f"):
                x1 = x1 + f(x2, f_side)
            with _v1.variable_scope("g"):
                x2 = x2 + g(x1, g_side)
    return tf.identity(x1), tf.identity(x2)


class _Inverted:
    """The layers, with gradients that go back through them by their outputs."""

    def __init__(self, scope: Any, parts: Sequence[Any], sides: Sequence[int]) -> None:
        self._scope = scope
        self._parts = parts
        self._sides = sides

    def forward(self, x1: Any, x2: Any, *sides: Any) -> Any:
        """The outputs, and the function of their gradients that custom_gradient takes."""
        f_side, g_side = sides[: self._sides[0]], sides[self._sides[0] :]
        outputs = _forward(self._parts, x1, x2, [*f_side], [*g_side])

        def gradients(dy1: Any, dy2: Any, variables: Sequence[Any] = ()) -> Any:
            sums = _Sums([*f_side, *g_side, *variables])
            (dx1, dx2) = self._backwards(outputs, (dy1, dy2), (f_side, g_side), sums)
            found = sums.all()
            counted = len(sides)
            return [dx1, dx2, *found[:counted]], found[counted:]

        return outputs, gradients

    def _backwards(self, outputs: Any, above: Any, sides: Any, sums: "_Sums") -> tuple[Any, Any]:
        """The gradients of both inputs; those of all else are added to the sums."""
        (y1, y2), (dy1, dy2), (f_side, g_side) = outputs, above, sides
        for index in reversed(range(len(self._parts))):
            f, g = self._parts[index]
            layer = _LAYER.format(index)
            with _v1.variable_scope(self._scope, reuse=True), _v1.variable_scope(layer):
                with _v1.variable_scope("g"):
                    change, more = sums.through(g, y1, g_side, dy2)
                dy1, x2 = dy1 + more, y2 - change
                # The inverse of `f` waits, so that one layer's activations are there at a time.
                with tf.control_dependencies([dy1]), _v1.variable_scope("f"):
                    change, more = sums.through(f, x2, f_side, dy1)
            dy2, y1, y2 = dy2 + more, y1 - change, x2
        return dy1, dy2


class _Sums:
    """Gradients of side inputs and variables, of which all layers give some.

    Args:
      of: The side inputs and variables.
    """

    def __init__(self, of: Sequence[Any]) -> None:
        self._of = of
        self._found: list[list[Any]] = [[] for _ in of]

    def through(self, function: _Function, x: Any, side: Any, above: Any) -> Any:
        """A function's output, and the gradient of its input."""
        x = tf.stop_gradient(x)
        output = function(x, [*side])
        first, *rest = tf.gradients(output, [x, *self._of], above)
        for found, one in zip(self._found, rest, strict=True):
            found += [] if one is None else [tf.convert_to_tensor(one)]
        return output, tf.zeros_like(x) if first is None else first

    def all(self) -> list[Any]:
        """The sum of each, None where no layer gave any."""
        return [tf.add_n(found) if found else None for found in self._found]


def recompute_grad(
    fn: _Function, use_data_dep: Any = _DEFAULT, tupleize_grads: bool = False
) -> _Function:
    """A function whose activations are computed again for its gradients.

    Args:
      fn: A function of tensors, which takes `is_recomputing` if it wants to know.
      use_data_dep: Has no effect: what is computed again waits for the gradients in any case.
      tupleize_grads: Gives all gradients at the same time, when all of them are there.

    Returns:
      The function. Its variables must be resource variables: use it within
      `tf.variable_scope(..., use_resource=True)`.
    """
    del use_data_dep
    knows = "is_recomputing" in inspect.signature(fn).parameters

    def run(again: bool, arguments: Sequence[Any]) -> Any:
        return fn(*arguments, is_recomputing=again) if knows else fn(*arguments)

    @functools.wraps(fn)
    def recomputed(*arguments: Any) -> Any:
        scope = _v1.get_variable_scope()

        @tf.custom_gradient
        def inner(*inputs: Any) -> Any:
            def gradients(*above: Any, variables: Sequence[Any] = ()) -> Any:
                with tf.control_dependencies(above), _v1.variable_scope(scope, reuse=True):
                    again = [tf.identity(tf.stop_gradient(one)) for one in inputs]
                    outputs = run(True, again)
                found = tf.gradients(outputs, [*again, *variables], above)
                found = tf.tuple(found) if tupleize_grads else found
                return found[: len(again)], found[len(again) :]

            return run(False, inputs), gradients

        return inner(*[tf.convert_to_tensor(one) for one in arguments])

    return recomputed
