"""Nets that are one chain: convolutions and pools, then three dense layers as convolutions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.legacy.contrib import layers
from estimator_train.legacy.contrib.framework.arg_scope import arg_scope
from estimator_train.legacy.contrib.layers import utils

_v1 = tf.compat.v1
Net = Callable[..., tuple[tf.Tensor, dict[str, tf.Tensor]]]


class Convolution(NamedTuple):
    """One or more convolutions of a chain.

    Attributes:
      name: Their scope.
      depth: Channels of the output.
      kernel: Its height and width.
      times: How many there are; None is one that has the scope for itself.
      arguments: Further ones of the layer.
    """

    name: str
    depth: int
    kernel: int
    times: int | None = None
    arguments: Mapping[str, Any] = {}


class Pool(NamedTuple):
    """The largest value of each window, which are two apart; see `Convolution`."""

    name: str
    kernel: int


class Dense(NamedTuple):
    """The dense layers at a chain's end.

    Attributes:
      kernel: Height and width of what comes in from a picture of the usual size.
      depths: Sizes of the first two; the third has the classes.
      hidden: Arguments of those two.
      last: Arguments of the third.
    """

    kernel: int
    depths: tuple[int, int]
    hidden: Mapping[str, Any] = {}
    last: Mapping[str, Any] = {}


def chain(
    name: str,
    parts: Sequence[Convolution | Pool],
    dense: Dense,
    image_size: int | None = None,
    collection: Callable[[Any], str] = lambda scope: f"{scope.original_name_scope}_end_points",
) -> Net:
    """A net as a function.

    Args:
      name: Of the function, and the default of its scope.
      parts: The convolutions and pools.
      dense: The dense layers.
      image_size: The usual one, the function's `default_image_size`.
      collection: Of a scope, the collection that its outputs are in.
    """

    def net(
        inputs: Any,
        num_classes: int = 1000,
        is_training: Any = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: Any = name,
    ) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        with _v1.variable_scope(scope, name, [inputs]) as entered:
            collected = [layers.conv2d, layers.fully_connected, layers.max_pool2d]
            points = collection(entered)
            with arg_scope(collected, outputs_collections=points):
                outputs = _convolved(inputs, parts)
                outputs = _classified(outputs, dense, num_classes, dropout_keep_prob, is_training)
            end_points = utils.convert_collection_to_dict(points)
            if spatial_squeeze:
                outputs = tf.squeeze(outputs, [1, 2], name="fc8/squeezed")
                end_points[f"{entered.name}/fc8"] = outputs
            return outputs, end_points

    net.__name__ = net.__qualname__ = name
    net.__doc__ = _DOCUMENTATION.format(name)
    if image_size:
        vars(net)["default_image_size"] = image_size
    return net


_DOCUMENTATION = """The net {}.

Args:
  inputs: Pictures, (batch, height, width, channels).
  num_classes: How many classes there are.
  is_training: Whether units are dropped.
  dropout_keep_prob: The share of units that are not.
  spatial_squeeze: Whether the logits lose height and width, which have to be 1 then.
  scope: The net's name.

Returns:
  The logits, and the outputs of all layers by name.
"""


def _convolved(outputs: Any, parts: Sequence[Convolution | Pool]) -> tf.Tensor:
    for part in parts:
        window = [part.kernel, part.kernel]
        if isinstance(part, Pool):
            outputs = layers.max_pool2d(outputs, window, 2, scope=part.name)
            continue
        made = {"scope": part.name, **part.arguments}
        if part.times is None:
            outputs = layers.conv2d(outputs, part.depth, window, **made)
        else:
            outputs = layers.repeat(outputs, part.times, layers.conv2d, part.depth, window, **made)
    return outputs


def _classified(
    outputs: tf.Tensor, dense: Dense, num_classes: int, keep_prob: float, is_training: Any
) -> tf.Tensor:
    """Dense layers as convolutions, so that larger pictures give a map of logits."""
    first, second = dense.depths
    with arg_scope([layers.conv2d], **dense.hidden):
        for name, depth, kernel in (("6", first, dense.kernel), ("7", second, 1)):
            size = {"padding": "VALID"} if name == "6" else {}
            outputs = layers.conv2d(outputs, depth, [kernel, kernel], scope=f"fc{name}", **size)
            dropped = {"is_training": is_training, "scope": f"dropout{name}"}
            outputs = layers.dropout(outputs, keep_prob, **dropped)
        plain = {"activation_fn": None, "normalizer_fn": None, **dense.last}
        return layers.conv2d(outputs, num_classes, [1, 1], scope="fc8", **plain)


def chain_arg_scope(weight_decay: float, bias: Any, pools: bool) -> Any:
    """The layers' arguments for a chain.

    Args:
      weight_decay: Factor of the weights' L2 loss.
      bias: Initializer of the biases.
      pools: Whether pools leave out what is at the border.

    Returns:
      What `arg_scope` takes.
    """
    made = {
        "activation_fn": tf.nn.relu,
        "weights_regularizer": layers.l2_regularizer(weight_decay),
        "biases_initializer": bias,
    }
    with (
        arg_scope([layers.conv2d, layers.fully_connected], **made),
        arg_scope([layers.conv2d], padding="SAME") as scope,
    ):
        if not pools:
            return scope
        with arg_scope([layers.max_pool2d], padding="VALID") as scope:
            return scope
