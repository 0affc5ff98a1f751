"""Inception v2, with batch normalization (Ioffe and Szegedy, "Batch normalization ...", 2015)."""

from collections.abc import Callable

import tensorflow as tf

from tf_contrib import layers
from tf_contrib._types import ArgScope, Condition, Scope, TensorLike
from tf_contrib.framework.arg_scope import arg_scope
from tf_contrib.nets.modules import (
    Branch,
    Depth,
    EndPoints,
    Initializer,
    Layer,
    Stage,
    compute_pooled_logits,
    conv,
    inception_arg_scope,
    scale_depths,
    stack_stages,
)

_v1 = tf.compat.v1
_REDUCTION = {"weights_initializer": Initializer(0.0, 0.09)}
_PROJECTION = {"weights_initializer": Initializer(0.0, 0.1)}


def _apply_first_convolution(inputs: TensorLike, depth: Depth) -> tf.Tensor:
    """Applies the first convolution, which has a kernel for each color."""
    return layers.separable_conv2d(
        inputs,
        depth(64),
        [7, 7],
        depth_multiplier=min(depth(64) // 3, 8),
        stride=2,
        weights_initializer=Initializer(0.0, 1.0),
        scope="Conv2d_1a_7x7",
    )


def _create_double_branch(narrow: int, wide: int, stride: int = 1) -> Branch:
    last = conv("1a_3x3", wide, stride=2) if stride == 2 else conv("0c_3x3", wide)
    return [conv("0a_1x1", narrow, **_REDUCTION), conv("0b_3x3", wide), last]


def _create_module(
    single: int,
    three: tuple[int, int],
    double: tuple[int, int],
    projection: int,
    pool: str = "AvgPool",
) -> list[Branch]:
    """Creates a module with the channels of the paper's table."""
    return [
        [conv("0a_1x1", single)],
        [conv("0a_1x1", three[0], **_REDUCTION), conv("0b_3x3", three[1])],
        _create_double_branch(*double),
        [Layer(f"{pool}_0a_3x3"), conv("0b_1x1", projection, **_PROJECTION)],
    ]


def _create_downsampling_module(three: tuple[int, int], double: tuple[int, int]) -> list[Branch]:
    """Creates a module that halves height and width."""
    return [
        [conv("0a_1x1", three[0], **_REDUCTION), conv("1a_3x3", three[1], stride=2)],
        _create_double_branch(*double, stride=2),
        [Layer("MaxPool_1a_3x3", arguments={"stride": 2})],
    ]


_STAGES: dict[str, Stage] = {
    "Conv2d_1a_7x7": _apply_first_convolution,
    "MaxPool_2a_3x3": Layer("MaxPool_2a_3x3", arguments={"stride": 2}),
    "Conv2d_2b_1x1": conv("2b_1x1", 64, **_PROJECTION),
    "Conv2d_2c_3x3": conv("2c_3x3", 192),
    "MaxPool_3a_3x3": Layer("MaxPool_3a_3x3", arguments={"stride": 2}),
    "Mixed_3b": _create_module(64, (64, 64), (64, 96), 32),
    "Mixed_3c": _create_module(64, (64, 96), (64, 96), 64),
    "Mixed_4a": _create_downsampling_module((128, 160), (64, 96)),
    "Mixed_4b": _create_module(224, (64, 96), (96, 128), 128),
    "Mixed_4c": _create_module(192, (96, 128), (96, 128), 128),
    "Mixed_4d": _create_module(160, (128, 160), (128, 160), 96),
    "Mixed_4e": _create_module(96, (128, 192), (160, 192), 96),
    "Mixed_5a": _create_downsampling_module((128, 192), (192, 256)),
    "Mixed_5b": _create_module(352, (192, 320), (160, 224), 128),
    "Mixed_5c": _create_module(352, (192, 320), (192, 224), 128, pool="MaxPool"),
}


def inception_v2_base(
    inputs: TensorLike,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Scope | None = None,
) -> tuple[tf.Tensor, EndPoints]:
    """Computes the net up to an end point; see `inception_v1_base`.

    The numbers of channels are multiplied by depth_multiplier, and are at least min_depth.

    Raises:
      ValueError: The end point is unknown, or depth_multiplier is not positive.
    """
    with _v1.variable_scope(scope, "InceptionV2", [inputs]):
        return stack_stages(
            inputs, _STAGES, final_endpoint, scale_depths(min_depth, depth_multiplier)
        )


def inception_v2(
    inputs: TensorLike,
    num_classes: int = 1000,
    is_training: Condition = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., tf.Tensor] = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    scope: Scope = "InceptionV2",
) -> tuple[tf.Tensor, EndPoints]:
    """Computes the complete net; see `inception_v1` and `inception_v2_base`."""
    with (
        _v1.variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as net_scope,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        base_arguments = {
            "min_depth": min_depth,
            "depth_multiplier": depth_multiplier,
            "scope": net_scope,
        }
        net, end_points = inception_v2_base(inputs, **base_arguments)
        _, net = compute_pooled_logits(net, 7, num_classes, dropout_keep_prob, spatial_squeeze)
        end_points["Logits"] = net
        end_points["Predictions"] = prediction_fn(net, scope="Predictions")
    return net, end_points


vars(inception_v2)["default_image_size"] = 224


def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> ArgScope:
    """Returns the arg_scope of this net; see `inception_arg_scope`."""
    return inception_arg_scope(weight_decay, batch_norm_var_collection)
