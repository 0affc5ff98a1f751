"""`slim.utils`: what layers share - names of outputs in collections, arguments of two forms."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def collect_named_outputs(collections: Any, alias: str, outputs: tf.Tensor) -> tf.Tensor:
    """The same outputs, which collections get, if there are any, under a further name.

    Args:
      collections: A name or several, or None.
      alias: The name that `convert_collection_to_dict` gives them.
      outputs: A layer's.
    """
    if collections:
        append_tensor_alias(outputs, alias)
        _v1.add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: tf.Tensor, alias: str) -> tf.Tensor:
    """The same tensor, with one more name."""
    tensor.aliases = [*getattr(tensor, "aliases", []), alias.removesuffix("/")]
    return tensor


def gather_tensors_aliases(tensors: Sequence[tf.Tensor]) -> list[str]:
    """The further names of tensors, one after the other."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def get_tensor_aliases(tensor: tf.Tensor) -> list[str]:
    """A tensor's further names; the operation's where it has none."""
    return getattr(tensor, "aliases", None) or [tensor.name.removesuffix(":0")]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, tf.Tensor]:
    """The tensors of a collection by all their further names, in its order.

    Args:
      collection: Its name.
      clear_collection: Whether to empty it.
    """
    tensors = _v1.get_collection(collection)
    aliases = ((alias, tensor) for tensor in tensors for alias in get_tensor_aliases(tensor))
    found = OrderedDict(aliases)
    if clear_collection:
        _v1.get_default_graph().clear_collection(collection)
    return found


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections of one variable, of those that are given for all or by name."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def constant_value(value: Any, dtype: Any = None) -> Any:
    """The value of a plain value or of a tensor, None where that is not known yet."""
    del dtype
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return tf.get_static_value(tf.convert_to_tensor(value))
    return value


def smart_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: Any = None) -> Any:
    """`tf.cond`, of one function alone where the condition is known."""
    known = constant_value(pred)
    if known is None:
        return _v1.cond(pred, fn1, fn2, name=name)
    return fn1() if known else fn2()


def last_dimension(shape: tf.TensorShape, min_rank: int = 1) -> int:
    """The size of a shape's last dimension.

    Raises:
      ValueError: It is not known, or the rank is less.
    """
    return channel_dimension(shape, "NHWC", min_rank)


def channel_dimension(shape: tf.TensorShape, data_format: str, min_rank: int = 1) -> int:
    """The size of the channels' dimension; see `last_dimension`."""
    shape = tf.TensorShape(shape)
    if shape.rank is None or shape.rank < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank}: {shape}")
    size = shape.as_list()[1 if data_format.startswith("NC") else -1]
    if size is None:
        raise ValueError(f"the channels' dimension must be known: {shape}")
    return size


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """One number for both sides, or two.

    Raises:
      ValueError: There are not two.
    """
    height, width = n_positive_integers(2, int_or_tuple)
    return height, width


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """One number n times, or n numbers.

    Raises:
      ValueError: There are not n, or one is not positive.
    """
    values = (value,) * n if isinstance(value, int) else tuple(int(one) for one in value)
    if len(values) != n or any(one < 1 for one in values):
        raise ValueError(f"Expected {n} positive integers, got {value}")
    return values
