"""`rev_block` and `recompute_grad`: gradients without stored activations.

Reversible layers: Gomez, Ren, Urtasun, Grosse, "The Reversible Residual Network" (2017).
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import TensorLike

_v1 = tf.compat.v1
_Function = Callable[..., Any]
_LAYER = "revlayer_{}"
_DEFAULT = "__rev_block_lib_default"


def rev_block(
    x1: TensorLike,
    x2: TensorLike,
    f: _Function | Sequence[_Function],
    g: _Function | Sequence[_Function],
    num_layers: int = 1,
    f_side_input: Sequence[Any] | None = None,
    g_side_input: Sequence[Any] | None = None,
    is_training: bool = True,
) -> tuple[Any, Any]:
    """Computes reversible layers y1 = x1 + f(x2), y2 = x2 + g(y1), one after another.

    In training, the inputs of the layers are computed from their outputs for the gradients, instead
    of being stored.

    Args:
      x1: Float tensor.
      x2: Float tensor.
      f: Function of a tensor, and of its side inputs if there are any; or a list with a function
        for each layer.
      g: Function or functions, as `f`.
      num_layers: Number of layers.
      f_side_input: Tensors that each `f` takes as a list in its second argument.
      g_side_input: Tensors that each `g` takes as a list in its second argument.
      is_training: False: gradients are computed by TensorFlow from stored activations.

    Returns:
      y1 and y2 of the last layer.

    Raises:
      AssertionError: The number of functions is not num_layers.
    """
    fs, gs = (list(one) if isinstance(one, (list, tuple)) else [one] * num_layers for one in (f, g))
    assert len(fs) == len(gs) == num_layers
    sides = list(f_side_input or ()), list(g_side_input or ())
    parts = [
        (_accept_side_inputs(f, sides[0]), _accept_side_inputs(g, sides[1]))
        for f, g in zip(fs, gs, strict=True)
    ]
    with _v1.variable_scope(None, "revblock", use_resource=True) as scope:
        if not is_training:
            return _compute_layers(parts, x1, x2, *sides)
        layers = _ReversibleLayers(scope, parts, [len(side) for side in sides])
        return tf.custom_gradient(layers.forward)(x1, x2, *sides[0], *sides[1])


def _accept_side_inputs(function: _Function, side: Sequence[Any]) -> _Function:
    """Returns a function of a tensor and side inputs, which are passed on if there are any."""
    return function if side else lambda x, _: function(x)


def _compute_layers(
    parts: Sequence[Any],
    x1: TensorLike,
    x2: TensorLike,
    f_side: Sequence[tf.Tensor],
    g_side: Sequence[tf.Tensor],
) -> tuple[Any, Any]:
    for index, (f, g) in enumerate(parts):
        with _v1.variable_scope(_LAYER.format(index)):
            with _v1.variable_scope("f"):
                x1 = x1 + f(x2, f_side)
            with _v1.variable_scope("g"):
                x2 = x2 + g(x1, g_side)
    return tf.identity(x1), tf.identity(x2)


class _ReversibleLayers:
    """Layers whose gradients are computed from their outputs."""

    def __init__(
        self, scope: tf.compat.v1.VariableScope, parts: Sequence[Any], sides: Sequence[int]
    ) -> None:
        self._scope = scope
        self._parts = parts
        self._sides = sides

    def forward(self, x1: TensorLike, x2: TensorLike, *sides: Any) -> Any:
        """Returns the outputs and the gradient function, as `tf.custom_gradient` requires."""
        f_side, g_side = sides[: self._sides[0]], sides[self._sides[0] :]
        outputs = _compute_layers(self._parts, x1, x2, [*f_side], [*g_side])

        def gradients(dy1: tf.Tensor, dy2: tf.Tensor, variables: Sequence[Any] = ()) -> Any:
            sums = _GradientSums([*f_side, *g_side, *variables])
            (dx1, dx2) = self._compute_input_gradients(outputs, (dy1, dy2), (f_side, g_side), sums)
            totals = sums.totals()
            count = len(sides)
            return [dx1, dx2, *totals[:count]], totals[count:]

        return outputs, gradients

    def _compute_input_gradients(
        self,
        outputs: tuple[tf.Tensor, tf.Tensor],
        output_gradients: tuple[tf.Tensor, tf.Tensor],
        sides: tuple[Sequence[tf.Tensor], Sequence[tf.Tensor]],
        sums: "_GradientSums",
    ) -> tuple[Any, Any]:
        """Returns the gradients of both inputs and adds the other gradients to the sums."""
        (y1, y2), (dy1, dy2), (f_side, g_side) = outputs, output_gradients, sides
        for index in reversed(range(len(self._parts))):
            f, g = self._parts[index]
            layer = _LAYER.format(index)
            with _v1.variable_scope(self._scope, reuse=True), _v1.variable_scope(layer):
                with _v1.variable_scope("g"):
                    output, input_gradient = sums.add_gradients(g, y1, g_side, dy2)
                dy1, x2 = dy1 + input_gradient, y2 - output
                # Waiting here keeps the activations of only one layer in memory.
                with tf.control_dependencies([dy1]), _v1.variable_scope("f"):
                    output, input_gradient = sums.add_gradients(f, x2, f_side, dy1)
            dy2, y1, y2 = dy2 + input_gradient, y1 - output, x2
        return dy1, dy2


class _GradientSums:
    """Sums of the gradients of side inputs and variables over all layers.

    Args:
      sources: Side inputs and variables.
    """

    def __init__(self, sources: Sequence[Any]) -> None:
        self._sources = sources
        self._parts: list[list[Any]] = [[] for _ in sources]

    def add_gradients(
        self,
        function: _Function,
        x: TensorLike,
        side: Sequence[tf.Tensor],
        output_gradients: tf.Tensor,
    ) -> Any:
        """Adds the gradients of a function; returns its output and the gradient of its input."""
        x = tf.stop_gradient(x)
        output = function(x, [*side])
        first, *rest = tf.gradients(output, [x, *self._sources], output_gradients)
        for parts, gradient in zip(self._parts, rest, strict=True):
            parts += [] if gradient is None else [tf.convert_to_tensor(gradient)]
        return output, tf.zeros_like(x) if first is None else first

    def totals(self) -> list[Any]:
        """Returns the sum of each gradient, or None if no layer had one."""
        return [tf.add_n(parts) if parts else None for parts in self._parts]


def recompute_grad(
    fn: _Function, use_data_dep: object = _DEFAULT, tupleize_grads: bool = False
) -> _Function:
    """Wraps a function to compute its activations again for the gradients.

    Args:
      fn: Function of tensors; it may take a bool argument `is_recomputing`.
      use_data_dep: Unused: the recomputation always waits for the gradients.
      tupleize_grads: Whether to return all gradients when the last one is computed.

    Returns:
      The wrapped function. Its variables must be resource variables: call it in
      `tf.variable_scope(..., use_resource=True)`.
    """
    del use_data_dep
    has_argument = "is_recomputing" in inspect.signature(fn).parameters

    def run(is_recomputing: bool, arguments: Sequence[Any]) -> Any:
        return fn(*arguments, is_recomputing=is_recomputing) if has_argument else fn(*arguments)

    @functools.wraps(fn)
    def call_with_recomputation(*arguments: Any) -> Any:
        scope = _v1.get_variable_scope()

        def inner(*inputs: Any) -> Any:
            def gradients(*output_gradients: Any, variables: Sequence[Any] = ()) -> Any:
                with (
                    tf.control_dependencies(output_gradients),
                    _v1.variable_scope(scope, reuse=True),
                ):
                    copies = [tf.identity(tf.stop_gradient(one)) for one in inputs]
                    outputs = run(True, copies)
                all_gradients = tf.gradients(outputs, [*copies, *variables], output_gradients)
                all_gradients = tf.tuple(all_gradients) if tupleize_grads else all_gradients
                return all_gradients[: len(copies)], all_gradients[len(copies) :]

            return run(False, inputs), gradients

        return tf.custom_gradient(inner)(*[tf.convert_to_tensor(one) for one in arguments])

    return call_with_recomputation
