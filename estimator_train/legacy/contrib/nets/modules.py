"""Nets of Inception modules: how their tables are read, and what all of them share."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.legacy.contrib import layers
from estimator_train.legacy.contrib.framework.arg_scope import arg_scope

_v1 = tf.compat.v1
EndPoints = dict[str, tf.Tensor]
Depth = Callable[[int], int]
Initializer = _v1.truncated_normal_initializer


class Layer(NamedTuple):
    """One layer of a table.

    Attributes:
      name: Its scope, which tells what it is and how large its kernel, as `MaxPool_1a_3x3`.
      depth: Channels of the output of a convolution.
      arguments: Further ones of the layer.
    """

    name: str
    depth: int = 0
    arguments: Mapping[str, Any] = {}


# One upon the other; those of a tuple side by side.
Branch = Sequence[Layer | tuple[Layer, ...]]
# A layer, a module of branches side by side, or what computes it of its input and the depths.
Stage = Layer | list[Branch] | Callable[[Any, Depth], tf.Tensor]
_LAYERS = {"MaxPool": layers.max_pool2d, "AvgPool": layers.avg_pool2d}


def conv(place: str, depth: int, **arguments: Any) -> Layer:
    """A convolution, named by its place and kernel: `0a_1x1`."""
    return Layer(f"Conv2d_{place}", depth, arguments)


def stacked(
    inputs: Any,
    stages: Mapping[str, Stage],
    final_endpoint: str,
    depth: Depth = lambda size: size,
) -> tuple[tf.Tensor, EndPoints]:
    """The stages of a net one upon the other, up to one of them.

    Args:
      inputs: Pictures.
      stages: Names of end points to what is there.
      final_endpoint: Name of the last.
      depth: What is made of a table's number of channels.

    Returns:
      The last output, and all by name.

    Raises:
      ValueError: There is no such end point.
    """
    end_points: EndPoints = {}
    with same_size():
        for name, stage in stages.items():
            if isinstance(stage, Layer):
                inputs = _layer(inputs, stage, depth)
            elif isinstance(stage, list):
                inputs = _module(inputs, name, stage, depth)
            else:
                inputs = stage(inputs, depth)
            end_points[name] = inputs
            if name == final_endpoint:
                return inputs, end_points
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def same_size() -> Any:
    """The arg_scope of layers whose output is as large as their input."""
    places = [layers.conv2d, layers.max_pool2d, layers.avg_pool2d]
    return arg_scope(places, stride=1, padding="SAME")


def _module(inputs: Any, name: str, branches: Sequence[Branch], depth: Depth) -> tf.Tensor:
    with _v1.variable_scope(name):
        outputs = []
        for number, branch in enumerate(branches):
            with _v1.variable_scope(f"Branch_{number}"):
                net = inputs
                for one in branch:
                    if isinstance(one, Layer):
                        net = _layer(net, one, depth)
                    else:
                        net = tf.concat([_layer(net, part, depth) for part in one], 3)
                outputs.append(net)
        return tf.concat(outputs, 3)


def _layer(inputs: Any, layer: Layer, depth: Depth) -> tf.Tensor:
    kind = _LAYERS.get(layer.name.partition("_")[0])
    kernel = [int(size) for size in re.findall(r"\d+(?=x)|(?<=x)\d+", layer.name)]
    made = {"kernel_size": kernel, "scope": layer.name, **layer.arguments}
    if kind is not None:
        return kind(inputs, **made)
    return layers.conv2d(inputs, depth(layer.depth), **made)


def depths(min_depth: int, depth_multiplier: float) -> Depth:
    """What is made of a table's number of channels.

    Args:
      min_depth: The least.
      depth_multiplier: The factor.

    Raises:
      ValueError: The factor is not above zero.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda size: max(int(size * depth_multiplier), min_depth)


def kernel_within(inputs: tf.Tensor, size: int) -> list[int]:
    """A kernel of this height and width, or of the pictures' where these are smaller."""
    sides = inputs.shape.as_list()[1:3]
    return [size if side is None else min(side, size) for side in sides]


def logits(inputs: tf.Tensor, num_classes: int, spatial_squeeze: bool, scope: str) -> tf.Tensor:
    """The last convolution, of height and width 1, which spatial_squeeze leaves out."""
    plain = {"activation_fn": None, "normalizer_fn": None, "scope": scope}
    outputs = layers.conv2d(inputs, num_classes, [1, 1], **plain)
    return tf.squeeze(outputs, [1, 2], name="SpatialSqueeze") if spatial_squeeze else outputs


def pooled_logits(
    net: tf.Tensor, size: int, num_classes: int, keep_prob: float, spatial_squeeze: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """The mean of all places after dropout, and the logits.

    Args:
      net: The output of the modules.
      size: Its height and width for pictures of the usual size.
      num_classes: How many classes there are.
      keep_prob: The share of units that are not dropped.
      spatial_squeeze: Whether logits lose height and width, which have to be 1 then.
    """
    with _v1.variable_scope("Logits"):
        kernel = kernel_within(net, size)
        pooled = {"padding": "VALID", "scope": "AvgPool_1a_{}x{}".format(*kernel)}
        net = layers.avg_pool2d(net, kernel, **pooled)
        net = layers.dropout(net, keep_prob, scope="Dropout_1b")
        return net, logits(net, num_classes, spatial_squeeze, "Conv2d_1c_1x1")


def inception_arg_scope(
    weight_decay: float, collection: str, use_batch_norm: bool = True, **normal: Any
) -> Any:
    """The layers' arguments for nets of Inception modules.

    Args:
      weight_decay: Factor of the weights' L2 loss.
      collection: That of the moving means.
      use_batch_norm: Whether there is batch_norm.
      **normal: Arguments of batch_norm.

    Returns:
      What `arg_scope` takes.
    """
    kept = {name: [collection] for name in ("moving_mean", "moving_variance")}
    normal = {
        "decay": 0.9997,
        "epsilon": 0.001,
        "updates_collections": _v1.GraphKeys.UPDATE_OPS,
        "variables_collections": {"beta": None, "gamma": None, **kept},
        **normal,
    }
    convolved = {
        "weights_initializer": layers.variance_scaling_initializer(),
        "activation_fn": tf.nn.relu,
        "normalizer_fn": layers.batch_norm if use_batch_norm else None,
        "normalizer_params": normal if use_batch_norm else {},
    }
    decayed = {"weights_regularizer": layers.l2_regularizer(weight_decay)}
    with (
        arg_scope([layers.conv2d, layers.fully_connected], **decayed),
        arg_scope([layers.conv2d], **convolved) as scope,
    ):
        return scope
