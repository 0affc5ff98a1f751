"""`slim.utils`: names of outputs in collections, and helpers for arguments of layers."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Collections, Condition, DType, VariableCollections

_v1 = tf.compat.v1


def collect_named_outputs(
    collections: Collections | None, alias: str, outputs: tf.Tensor
) -> tf.Tensor:
    """Adds outputs to collections under a name, and returns the outputs.

    Args:
      collections: Name or names of collections, or None.
      alias: Name under which `convert_collection_to_dict` returns the outputs.
      outputs: Outputs of a layer.
    """
    if collections:
        append_tensor_alias(outputs, alias)
        _v1.add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: tf.Tensor, alias: str) -> tf.Tensor:
    """Adds an alias to a tensor and returns the tensor."""
    tensor.aliases = [*getattr(tensor, "aliases", []), alias.removesuffix("/")]
    return tensor


def gather_tensors_aliases(tensors: Sequence[tf.Tensor]) -> list[str]:
    """Returns the aliases of all tensors in one list."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def get_tensor_aliases(tensor: tf.Tensor) -> list[str]:
    """Returns the aliases of a tensor, or the name of its operation if it has none."""
    return getattr(tensor, "aliases", None) or [tensor.name.removesuffix(":0")]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, tf.Tensor]:
    """Returns the tensors of a collection by their aliases, in the order of the collection.

    Args:
      collection: Name of the collection.
      clear_collection: Whether to empty the collection.
    """
    tensors = _v1.get_collection(collection)
    aliases = ((alias, tensor) for tensor in tensors for alias in get_tensor_aliases(tensor))
    by_alias = OrderedDict(aliases)
    if clear_collection:
        _v1.get_default_graph().clear_collection(collection)
    return by_alias


def get_variable_collections(
    variables_collections: VariableCollections | None, name: str
) -> Collections | None:
    """Returns the collections of one variable.

    Args:
      variables_collections: Collections of all variables, or a dict of names to collections.
      name: Name of the variable.
    """
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def constant_value(value: Any, dtype: DType | None = None) -> Any:
    """Returns a Python value or the static value of a tensor, None if that is not known yet."""
    del dtype
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return tf.get_static_value(tf.convert_to_tensor(value))
    return value


def smart_cond(
    pred: Condition, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None
) -> Any:
    """Calls one of two functions if the condition is known, otherwise builds a `tf.cond`."""
    static_value = constant_value(pred)
    if static_value is None:
        return _v1.cond(pred, fn1, fn2, name=name)
    return fn1() if static_value else fn2()


def last_dimension(shape: tf.TensorShape, min_rank: int = 1) -> int:
    """Returns the size of the last dimension of a shape.

    Raises:
      ValueError: The size is unknown, or the rank is too small.
    """
    return channel_dimension(shape, "NHWC", min_rank)


def channel_dimension(shape: tf.TensorShape, data_format: str, min_rank: int = 1) -> int:
    """Returns the number of channels of a shape; see `last_dimension`."""
    shape = tf.TensorShape(shape)
    if shape.rank is None or shape.rank < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank}: {shape}")
    size = shape.as_list()[1 if data_format.startswith("NC") else -1]
    if size is None:
        raise ValueError(f"The number of channels must be known, got shape {shape}.")
    return size


def two_element_tuple(int_or_tuple: int | Sequence[int]) -> tuple[int, int]:
    """Returns two sizes from one size for both dimensions, or from two.

    Raises:
      ValueError: There are more or fewer than two sizes, or a size is not positive.
    """
    height, width = n_positive_integers(2, int_or_tuple)
    return height, width


def n_positive_integers(n: int, value: int | Sequence[int]) -> tuple[int, ...]:
    """Returns n integers from one integer that is repeated, or from n integers.

    Raises:
      ValueError: There are more or fewer than n integers, or one is not positive.
    """
    values = (value,) * n if isinstance(value, int) else tuple(int(one) for one in value)
    if len(values) != n or any(one < 1 for one in values):
        raise ValueError(f"Expected {n} positive integers, got {value}")
    return values
