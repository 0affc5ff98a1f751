"""Inception, GoogLeNet (Szegedy and others, "Going deeper with convolutions", 2014)."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib import layers
from estimator_train.legacy.contrib.framework.arg_scope import arg_scope
from estimator_train.legacy.contrib.nets.modules import (
    Branch,
    EndPoints,
    Initializer,
    Layer,
    Stage,
    conv,
    inception_arg_scope,
    logits,
    stacked,
)

_v1 = tf.compat.v1


def _mixed(
    single: int, three: tuple[int, int], five: tuple[int, int], pool: int, last: str = "0b_3x3"
) -> list[Branch]:
    """A module with the channels of the paper's table; a kernel of 3 is in place of that of 5."""
    return [
        [conv("0a_1x1", single)],
        [conv("0a_1x1", three[0]), conv("0b_3x3", three[1])],
        [conv("0a_1x1", five[0]), conv(last, five[1])],
        [Layer("MaxPool_0a_3x3"), conv("0b_1x1", pool)],
    ]


def _halved(name: str) -> Layer:
    return Layer(name, arguments={"stride": 2})


_STAGES: dict[str, Stage] = {
    "Conv2d_1a_7x7": conv("1a_7x7", 64, stride=2),
    "MaxPool_2a_3x3": _halved("MaxPool_2a_3x3"),
    "Conv2d_2b_1x1": conv("2b_1x1", 64),
    "Conv2d_2c_3x3": conv("2c_3x3", 192),
    "MaxPool_3a_3x3": _halved("MaxPool_3a_3x3"),
    "Mixed_3b": _mixed(64, (96, 128), (16, 32), 32),
    "Mixed_3c": _mixed(128, (128, 192), (32, 96), 64),
    "MaxPool_4a_3x3": _halved("MaxPool_4a_3x3"),
    "Mixed_4b": _mixed(192, (96, 208), (16, 48), 64),
    "Mixed_4c": _mixed(160, (112, 224), (24, 64), 64),
    "Mixed_4d": _mixed(128, (128, 256), (24, 64), 64),
    "Mixed_4e": _mixed(112, (144, 288), (32, 64), 64),
    "Mixed_4f": _mixed(256, (160, 320), (32, 128), 128),
    "MaxPool_5a_2x2": _halved("MaxPool_5a_2x2"),
    # Checkpoints have this name.
    "Mixed_5b": _mixed(256, (160, 320), (32, 128), 128, last="0a_3x3"),
    "Mixed_5c": _mixed(384, (192, 384), (48, 128), 128),
}


def inception_v1_base(
    inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1"
) -> tuple[tf.Tensor, EndPoints]:
    """The net up to one of its end points.

    Args:
      inputs: Pictures, (batch, height, width, channels).
      final_endpoint: Name of the last.
      scope: The net's name.

    Returns:
      The last output, and all by name.

    Raises:
      ValueError: There is no such end point.
    """
    begun = {"weights_initializer": Initializer(0.0, 0.01)}
    with (
        _v1.variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([layers.conv2d, layers.fully_connected], **begun),
    ):
        return stacked(inputs, _STAGES, final_endpoint)


def inception_v1(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Callable[..., tf.Tensor] = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> tuple[tf.Tensor, EndPoints]:
    """The whole net.

    Args:
      inputs: Pictures, (batch, height, width, channels).
      num_classes: How many classes there are.
      is_training: Whether units are dropped, and batch_norm normalizes by the batch.
      dropout_keep_prob: The share of units that are not dropped.
      prediction_fn: What makes probabilities of logits, in a `scope`.
      spatial_squeeze: Whether logits lose height and width, which have to be 1 then.
      reuse: Whether the variables are there already.
      scope: The net's name.

    Returns:
      The logits, and the outputs of all stages by name.
    """
    with (
        _v1.variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as entered,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=entered)
        with _v1.variable_scope("Logits"):
            net = layers.avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = layers.dropout(net, dropout_keep_prob, scope="Dropout_0b")
            net = end_points["Logits"] = logits(net, num_classes, spatial_squeeze, "Conv2d_0c_1x1")
            end_points["Predictions"] = prediction_fn(net, scope="Predictions")
    return net, end_points


vars(inception_v1)["default_image_size"] = 224


def inception_v1_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
) -> Any:
    """The arguments for this net; see `inception_arg_scope`."""
    return inception_arg_scope(weight_decay, batch_norm_var_collection, use_batch_norm)
