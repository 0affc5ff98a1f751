"""Inception with batch normalization (Ioffe and Szegedy, "Batch normalization ...", 2015)."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib import layers
from estimator_train.legacy.contrib.framework.arg_scope import arg_scope
from estimator_train.legacy.contrib.nets.modules import (
    Branch,
    Depth,
    EndPoints,
    Initializer,
    Layer,
    Stage,
    conv,
    depths,
    inception_arg_scope,
    pooled_logits,
    stacked,
)

_v1 = tf.compat.v1
_NARROWED = {"weights_initializer": Initializer(0.0, 0.09)}
_PROJECTED = {"weights_initializer": Initializer(0.0, 0.1)}


def _first(inputs: Any, depth: Depth) -> tf.Tensor:
    """The first convolution, which has a kernel for each colour."""
    return layers.separable_conv2d(
        inputs,
        depth(64),
        [7, 7],
        depth_multiplier=min(depth(64) // 3, 8),
        stride=2,
        weights_initializer=Initializer(0.0, 1.0),
        scope="Conv2d_1a_7x7",
    )


def _double(narrow: int, wide: int, stride: int = 1) -> Branch:
    end = conv("1a_3x3", wide, stride=2) if stride == 2 else conv("0c_3x3", wide)
    return [conv("0a_1x1", narrow, **_NARROWED), conv("0b_3x3", wide), end]


def _mixed(
    single: int,
    three: tuple[int, int],
    double: tuple[int, int],
    projection: int,
    pool: str = "AvgPool",
) -> list[Branch]:
    """A module with the channels of the paper's table."""
    return [
        [conv("0a_1x1", single)],
        [conv("0a_1x1", three[0], **_NARROWED), conv("0b_3x3", three[1])],
        _double(*double),
        [Layer(f"{pool}_0a_3x3"), conv("0b_1x1", projection, **_PROJECTED)],
    ]


def _halved(three: tuple[int, int], double: tuple[int, int]) -> list[Branch]:
    """A module that makes pictures smaller."""
    return [
        [conv("0a_1x1", three[0], **_NARROWED), conv("1a_3x3", three[1], stride=2)],
        _double(*double, stride=2),
        [Layer("MaxPool_1a_3x3", arguments={"stride": 2})],
    ]


_STAGES: dict[str, Stage] = {
    "Conv2d_1a_7x7": _first,
    "MaxPool_2a_3x3": Layer("MaxPool_2a_3x3", arguments={"stride": 2}),
    "Conv2d_2b_1x1": conv("2b_1x1", 64, **_PROJECTED),
    "Conv2d_2c_3x3": conv("2c_3x3", 192),
    "MaxPool_3a_3x3": Layer("MaxPool_3a_3x3", arguments={"stride": 2}),
    "Mixed_3b": _mixed(64, (64, 64), (64, 96), 32),
    "Mixed_3c": _mixed(64, (64, 96), (64, 96), 64),
    "Mixed_4a": _halved((128, 160), (64, 96)),
    "Mixed_4b": _mixed(224, (64, 96), (96, 128), 128),
    "Mixed_4c": _mixed(192, (96, 128), (96, 128), 128),
    "Mixed_4d": _mixed(160, (128, 160), (128, 160), 96),
    "Mixed_4e": _mixed(96, (128, 192), (160, 192), 96),
    "Mixed_5a": _halved((128, 192), (192, 256)),
    "Mixed_5b": _mixed(352, (192, 320), (160, 224), 128),
    "Mixed_5c": _mixed(352, (192, 320), (192, 224), 128, pool="MaxPool"),
}


def inception_v2_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[tf.Tensor, EndPoints]:
    """The net up to one of its end points; see `inception_v1_base`.

    All numbers of channels are multiplied by depth_multiplier, and are min_depth at least.

    Raises:
      ValueError: There is no such end point, or the factor is not above zero.
    """
    with _v1.variable_scope(scope, "InceptionV2", [inputs]):
        return stacked(inputs, _STAGES, final_endpoint, depths(min_depth, depth_multiplier))


def inception_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., tf.Tensor] = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> tuple[tf.Tensor, EndPoints]:
    """The whole net; see `inception_v1` and `inception_v2_base` for arguments and errors."""
    with (
        _v1.variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as entered,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        made = {"min_depth": min_depth, "depth_multiplier": depth_multiplier, "scope": entered}
        net, end_points = inception_v2_base(inputs, **made)
        _, net = pooled_logits(net, 7, num_classes, dropout_keep_prob, spatial_squeeze)
        end_points["Logits"] = net
        end_points["Predictions"] = prediction_fn(net, scope="Predictions")
    return net, end_points


vars(inception_v2)["default_image_size"] = 224


def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> Any:
    """The arguments for this net; see `inception_arg_scope`."""
    return inception_arg_scope(weight_decay, batch_norm_var_collection)
