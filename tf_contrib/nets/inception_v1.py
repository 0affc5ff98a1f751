"""Inception v1, GoogLeNet (Szegedy et al., "Going deeper with convolutions", 2014)."""

from collections.abc import Callable

import tensorflow as tf

from tf_contrib import layers
from tf_contrib._types import ArgScope, Condition, Scope, TensorLike
from tf_contrib.framework.arg_scope import arg_scope
from tf_contrib.nets.modules import (
    Branch,
    EndPoints,
    Initializer,
    Layer,
    Stage,
    compute_logits,
    conv,
    inception_arg_scope,
    stack_stages,
)

_v1 = tf.compat.v1


def _create_module(
    single: int, three: tuple[int, int], five: tuple[int, int], pool: int, last: str = "0b_3x3"
) -> list[Branch]:
    """Creates a module with the channels of the paper's table; kernels of size 5 are of size 3."""
    return [
        [conv("0a_1x1", single)],
        [conv("0a_1x1", three[0]), conv("0b_3x3", three[1])],
        [conv("0a_1x1", five[0]), conv(last, five[1])],
        [Layer("MaxPool_0a_3x3"), conv("0b_1x1", pool)],
    ]


def _halve(name: str) -> Layer:
    return Layer(name, arguments={"stride": 2})


_STAGES: dict[str, Stage] = {
    "Conv2d_1a_7x7": conv("1a_7x7", 64, stride=2),
    "MaxPool_2a_3x3": _halve("MaxPool_2a_3x3"),
    "Conv2d_2b_1x1": conv("2b_1x1", 64),
    "Conv2d_2c_3x3": conv("2c_3x3", 192),
    "MaxPool_3a_3x3": _halve("MaxPool_3a_3x3"),
    "Mixed_3b": _create_module(64, (96, 128), (16, 32), 32),
    "Mixed_3c": _create_module(128, (128, 192), (32, 96), 64),
    "MaxPool_4a_3x3": _halve("MaxPool_4a_3x3"),
    "Mixed_4b": _create_module(192, (96, 208), (16, 48), 64),
    "Mixed_4c": _create_module(160, (112, 224), (24, 64), 64),
    "Mixed_4d": _create_module(128, (128, 256), (24, 64), 64),
    "Mixed_4e": _create_module(112, (144, 288), (32, 64), 64),
    "Mixed_4f": _create_module(256, (160, 320), (32, 128), 128),
    "MaxPool_5a_2x2": _halve("MaxPool_5a_2x2"),
    # The checkpoints of slim contain this irregular name.
    "Mixed_5b": _create_module(256, (160, 320), (32, 128), 128, last="0a_3x3"),
    "Mixed_5c": _create_module(384, (192, 384), (48, 128), 128),
}


def inception_v1_base(
    inputs: TensorLike, final_endpoint: str = "Mixed_5c", scope: Scope = "InceptionV1"
) -> tuple[tf.Tensor, EndPoints]:
    """Computes the net up to an end point.

    Args:
      inputs: Images, (batch, height, width, channels).
      final_endpoint: Name of the end point.
      scope: Variable scope of the net.

    Returns:
      The last output, and the outputs of all end points by name.

    Raises:
      ValueError: The end point is unknown.
    """
    initialization = {"weights_initializer": Initializer(0.0, 0.01)}
    with (
        _v1.variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([layers.conv2d, layers.fully_connected], **initialization),
    ):
        return stack_stages(inputs, _STAGES, final_endpoint)


def inception_v1(
    inputs: TensorLike,
    num_classes: int = 1000,
    is_training: Condition = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Callable[..., tf.Tensor] = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    scope: Scope = "InceptionV1",
) -> tuple[tf.Tensor, EndPoints]:
    """Computes the complete net.

    Args:
      inputs: Images, (batch, height, width, channels).
      num_classes: Number of classes.
      is_training: Whether to apply dropout and to normalize by the batch.
      dropout_keep_prob: Probability that dropout keeps a unit.
      prediction_fn: Function of logits and `scope` that returns probabilities.
      spatial_squeeze: Whether to remove height and width, which must be 1, from the logits.
      reuse: Whether to reuse existing variables.
      scope: Variable scope of the net.

    Returns:
      The logits and the outputs of all end points by name.
    """
    with (
        _v1.variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as net_scope,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=net_scope)
        with _v1.variable_scope("Logits"):
            net = layers.avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = layers.dropout(net, dropout_keep_prob, scope="Dropout_0b")
            net = end_points["Logits"] = compute_logits(
                net, num_classes, spatial_squeeze, "Conv2d_0c_1x1"
            )
            end_points["Predictions"] = prediction_fn(net, scope="Predictions")
    return net, end_points


vars(inception_v1)["default_image_size"] = 224


def inception_v1_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
) -> ArgScope:
    """Returns the arg_scope of this net; see `inception_arg_scope`."""
    return inception_arg_scope(weight_decay, batch_norm_var_collection, use_batch_norm)
