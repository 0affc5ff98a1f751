"""Types that the stand-ins of `tf.contrib` share in their signatures."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import tensorflow as tf

# Whatever `tf.convert_to_tensor` takes.
TensorLike: TypeAlias = tf.types.experimental.TensorLike
# Tensors, TensorArrays, shapes or dtypes in tuples, lists and dicts, as `tf.nest` takes them.
Nest: TypeAlias = Any
Shape: TypeAlias = tf.TensorShape | Sequence[int | None]
DType: TypeAlias = tf.DType | np.dtype | type | str
# A Python bool, or a bool tensor that each session run computes.
Condition: TypeAlias = bool | tf.Tensor
# One size for all sides, or one for each side.
Sizes: TypeAlias = int | Sequence[int]
Step: TypeAlias = int | tf.Tensor | tf.Variable

Scope: TypeAlias = str | tf.compat.v1.VariableScope
Collections: TypeAlias = str | Sequence[str]
# Default arguments of functions in an arg_scope, by the names of the functions.
ArgScope: TypeAlias = dict[str, dict[str, Any]]
# The collections of all variables of a layer, or of each variable by its name.
VariableCollections: TypeAlias = Collections | dict[str, Collections | None]
Initializer: TypeAlias = Callable[..., tf.Tensor]
Regularizer: TypeAlias = Callable[[tf.Tensor], tf.Tensor | None]

Session: TypeAlias = tf.compat.v1.Session
Hook: TypeAlias = tf.compat.v1.train.SessionRunHook
RunArgs: TypeAlias = tf.compat.v1.train.SessionRunArgs
RunContext: TypeAlias = tf.compat.v1.train.SessionRunContext
RunValues: TypeAlias = tf.compat.v1.train.SessionRunValues
Fetches: TypeAlias = Nest
Feeds: TypeAlias = Mapping[Any, TensorLike]
Table: TypeAlias = tf.lookup.StaticHashTable

Optimizer: TypeAlias = tf.compat.v1.train.Optimizer
LearningRate: TypeAlias = float | tf.Tensor | Callable[[], float | tf.Tensor]
Gradient: TypeAlias = tf.Tensor | tf.IndexedSlices
GradientsAndVariables: TypeAlias = Sequence[tuple[Gradient | None, tf.Variable]]

# A feature column; TensorFlow has no public class for all of them.
Column: TypeAlias = Any
Features: TypeAlias = TensorLike | Mapping[str, TensorLike]
Arrays: TypeAlias = np.ndarray | Sequence[Any] | Mapping[str, np.ndarray]


class Layer(Protocol):
    """Layer of Keras or of `tf.layers`; naming their classes here would load Keras."""

    def __call__(self, inputs: Any) -> tf.Tensor:
        """Returns the outputs."""

    def compute_output_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        """Returns the shape of the outputs."""


class Cell(Protocol):
    """Recurrent cell, such as `tf.nn.rnn_cell.RNNCell`; see `Layer`."""

    state_size: Nest
    output_size: Nest

    def __call__(self, inputs: Any, state: Nest) -> tuple[tf.Tensor, Nest]:
        """Returns the outputs and the state after one step."""

    def zero_state(self, batch_size: int | tf.Tensor, dtype: DType) -> Nest:
        """Returns the state before the first step."""
