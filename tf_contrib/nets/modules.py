"""Tables of Inception nets: how they are read, and parts that all versions share."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib import layers
from tf_contrib._types import ArgScope, TensorLike
from tf_contrib.framework.arg_scope import arg_scope

_v1 = tf.compat.v1
EndPoints = dict[str, tf.Tensor]
Depth = Callable[[int], int]
Initializer = _v1.truncated_normal_initializer


class Layer(NamedTuple):
    """One layer of a table.

    Attributes:
      name: Scope of the layer, which gives its kind and kernel: `MaxPool_1a_3x3`.
      depth: Number of output channels of a convolution.
      arguments: Further arguments of the layer.
    """

    name: str
    depth: int = 0
    arguments: Mapping[str, Any] = {}


# Consecutive layers; the layers of a tuple are parallel.
Branch = Sequence[Layer | tuple[Layer, ...]]
# A layer, a module of parallel branches, or a function of the inputs and the depth function.
Stage = Layer | list[Branch] | Callable[[Any, Depth], tf.Tensor]
_LAYERS = {"MaxPool": layers.max_pool2d, "AvgPool": layers.avg_pool2d}


def conv(place: str, depth: int, **arguments: Any) -> Layer:
    """Returns a convolution that is named by its place and kernel: `0a_1x1`."""
    return Layer(f"Conv2d_{place}", depth, arguments)


def stack_stages(
    inputs: TensorLike,
    stages: Mapping[str, Stage],
    final_endpoint: str,
    depth: Depth = lambda size: size,
) -> tuple[tf.Tensor, EndPoints]:
    """Applies the stages of a net up to an end point.

    Args:
      inputs: Images.
      stages: Stages by the names of their end points.
      final_endpoint: Name of the last end point.
      depth: Function that converts the number of channels in a table.

    Returns:
      The last output, and the outputs of all end points by name.

    Raises:
      ValueError: The end point is unknown.
    """
    end_points: EndPoints = {}
    with keep_size():
        for name, stage in stages.items():
            if isinstance(stage, Layer):
                inputs = _apply_layer(inputs, stage, depth)
            elif isinstance(stage, list):
                inputs = _apply_module(inputs, name, stage, depth)
            else:
                inputs = stage(inputs, depth)
            end_points[name] = inputs
            if name == final_endpoint:
                return inputs, end_points
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def keep_size() -> Any:
    """Returns an arg_scope in which layers keep height and width."""
    layer_functions = [layers.conv2d, layers.max_pool2d, layers.avg_pool2d]
    return arg_scope(layer_functions, stride=1, padding="SAME")


def _apply_module(
    inputs: TensorLike, name: str, branches: Sequence[Branch], depth: Depth
) -> tf.Tensor:
    with _v1.variable_scope(name):
        outputs = []
        for number, branch in enumerate(branches):
            with _v1.variable_scope(f"Branch_{number}"):
                net = inputs
                for one in branch:
                    if isinstance(one, Layer):
                        net = _apply_layer(net, one, depth)
                    else:
                        net = tf.concat([_apply_layer(net, part, depth) for part in one], 3)
                outputs.append(net)
        return tf.concat(outputs, 3)


def _apply_layer(inputs: TensorLike, layer: Layer, depth: Depth) -> tf.Tensor:
    kind = _LAYERS.get(layer.name.partition("_")[0])
    kernel = [int(size) for size in re.findall(r"\d+(?=x)|(?<=x)\d+", layer.name)]
    layer_arguments = {"kernel_size": kernel, "scope": layer.name, **layer.arguments}
    if kind is not None:
        return kind(inputs, **layer_arguments)
    return layers.conv2d(inputs, depth(layer.depth), **layer_arguments)


def scale_depths(min_depth: int, depth_multiplier: float) -> Depth:
    """Returns a function that scales the number of channels in a table.

    Args:
      min_depth: Minimum number of channels.
      depth_multiplier: Factor.

    Raises:
      ValueError: The factor is not positive.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda size: max(int(size * depth_multiplier), min_depth)


def limit_kernel(inputs: tf.Tensor, size: int) -> list[int]:
    """Returns the height and width of a kernel, at most those of the images."""
    sides = inputs.shape.as_list()[1:3]
    return [size if side is None else min(side, size) for side in sides]


def compute_logits(
    inputs: tf.Tensor, num_classes: int, spatial_squeeze: bool, scope: str
) -> tf.Tensor:
    """Computes the logits; spatial_squeeze removes height and width, which must be 1."""
    arguments = {"activation_fn": None, "normalizer_fn": None, "scope": scope}
    outputs = layers.conv2d(inputs, num_classes, [1, 1], **arguments)
    return tf.squeeze(outputs, [1, 2], name="SpatialSqueeze") if spatial_squeeze else outputs


def compute_pooled_logits(
    net: tf.Tensor, size: int, num_classes: int, keep_prob: float, spatial_squeeze: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the mean over all positions, after dropout, and the logits.

    Args:
      net: Output of the modules.
      size: Height and width of net for images of the default size.
      num_classes: Number of classes.
      keep_prob: Probability that dropout keeps a unit.
      spatial_squeeze: Whether to remove height and width, which must be 1, from the logits.
    """
    with _v1.variable_scope("Logits"):
        kernel = limit_kernel(net, size)
        pooling_arguments = {"padding": "VALID", "scope": "AvgPool_1a_{}x{}".format(*kernel)}
        net = layers.avg_pool2d(net, kernel, **pooling_arguments)
        net = layers.dropout(net, keep_prob, scope="Dropout_1b")
        return net, compute_logits(net, num_classes, spatial_squeeze, "Conv2d_1c_1x1")


def inception_arg_scope(
    weight_decay: float, collection: str, use_batch_norm: bool = True, **batch_norm_arguments: Any
) -> ArgScope:
    """Returns the arg_scope of Inception nets.

    Args:
      weight_decay: Factor of the L2 loss of the weights.
      collection: Collection of the moving averages.
      use_batch_norm: Whether to use batch_norm.
      **batch_norm_arguments: Arguments of batch_norm.

    Returns:
      A scope for `arg_scope`.
    """
    moving_collections = {name: [collection] for name in ("moving_mean", "moving_variance")}
    batch_norm_arguments = {
        "decay": 0.9997,
        "epsilon": 0.001,
        "updates_collections": _v1.GraphKeys.UPDATE_OPS,
        "variables_collections": {"beta": None, "gamma": None, **moving_collections},
        **batch_norm_arguments,
    }
    convolution_arguments = {
        "weights_initializer": layers.variance_scaling_initializer(),
        "activation_fn": tf.nn.relu,
        "normalizer_fn": layers.batch_norm if use_batch_norm else None,
        "normalizer_params": batch_norm_arguments if use_batch_norm else {},
    }
    decay_arguments = {"weights_regularizer": layers.l2_regularizer(weight_decay)}
    with (
        arg_scope([layers.conv2d, layers.fully_connected], **decay_arguments),
        arg_scope([layers.conv2d], **convolution_arguments) as scope,
    ):
        return scope
