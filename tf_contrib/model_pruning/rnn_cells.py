"""LSTM cells whose weights have one mask and one threshold."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import Initializer
from tf_contrib.model_pruning.masks import multiply_by_mask

_v1 = tf.compat.v1
_cells = tf.compat.v1.nn.rnn_cell
_Activation = Callable[[tf.Tensor], tf.Tensor]


class _MaskedKernel(tf.compat.v1.nn.rnn_cell.RNNCell):
    """Base class of cells that use the masked values of their variable `kernel`."""

    def add_weight(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Creates a variable; that of the kernel is returned masked."""
        variable = super().add_weight(name, *args, **kwargs)
        if name != "kernel":
            return variable
        untrained = {"dtype": variable.dtype.base_dtype, "trainable": False}
        ones, zeros = _v1.ones_initializer(), _v1.zeros_initializer()
        mask = super().add_weight("mask", variable.get_shape(), initializer=ones, **untrained)
        threshold = super().add_weight("threshold", [], initializer=zeros, **untrained)
        return multiply_by_mask(variable, mask, threshold)


class MaskedBasicLSTMCell(_MaskedKernel, tf.compat.v1.nn.rnn_cell.BasicLSTMCell):
    """`BasicLSTMCell` with a mask of its weights.

    Args:
      num_units: Number of units.
      forget_bias: Number added to the forget gates.
      state_is_tuple: Whether the state is an LSTMStateTuple; otherwise it is one tensor.
      activation: Activation of the states; tanh by default.
      reuse: Whether to reuse existing variables.
      name: Variable scope of the cell.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: _Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)


class MaskedLSTMCell(_MaskedKernel, tf.compat.v1.nn.rnn_cell.LSTMCell):
    """`LSTMCell` with a mask of its weights.

    Args:
      num_units: Number of units.
      use_peepholes: Whether the gates see the cell state.
      cell_clip: Bound of the cell states, or None.
      initializer: Initial values of the weights.
      num_proj: Size of the outputs if they are projected; that weight has no mask.
      proj_clip: Bound of the projected outputs, or None.
      num_unit_shards: Number of parts of the weights.
      num_proj_shards: Number of parts of the weights of the projection.
      forget_bias: Number added to the forget gates.
      state_is_tuple: Whether the state is an LSTMStateTuple; otherwise it is one tensor.
      activation: Activation of the states; tanh by default.
      reuse: Whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: _Activation | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            cell_clip,
            initializer,
            num_proj,
            proj_clip,
            num_unit_shards,
            num_proj_shards,
            forget_bias,
            state_is_tuple,
            activation,
            reuse,
        )
