"""Types that the files of `graph_editor` share in their signatures."""

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

import tensorflow as tf

Node: TypeAlias = tf.Operation | tf.Tensor
Regex: TypeAlias = str | re.Pattern[str]
Operations: TypeAlias = tf.Graph | tf.Operation | Iterable[tf.Operation]
Tensors: TypeAlias = tf.Graph | tf.Tensor | Iterable[tf.Tensor]
# Where a walk begins: operations, or tensors.
Seeds: TypeAlias = Node | Iterable[tf.Operation] | Iterable[tf.Tensor]
OperationFilter: TypeAlias = Callable[[tf.Operation], bool]
TensorFilter: TypeAlias = Callable[[tf.Tensor], bool]
