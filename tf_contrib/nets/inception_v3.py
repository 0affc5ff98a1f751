"""Inception v3, with factorized kernels (Szegedy et al., "Rethinking the Inception ...", 2015)."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib import layers
from tf_contrib._types import (
    ArgScope,
    Collections,
    Condition,
    Scope,
    TensorLike,
)
from tf_contrib.framework.arg_scope import arg_scope
from tf_contrib.nets.modules import (
    Branch,
    Depth,
    EndPoints,
    Initializer,
    Layer,
    Stage,
    compute_logits,
    compute_pooled_logits,
    conv,
    inception_arg_scope,
    keep_size,
    limit_kernel,
    scale_depths,
    stack_stages,
)

_v1 = tf.compat.v1
_DOWNSAMPLING = {"stride": 2, "padding": "VALID"}
_POOLING_BRANCH: Branch = [Layer("MaxPool_1a_3x3", arguments=_DOWNSAMPLING)]


def _create_pooling_branch(depth: int) -> Branch:
    return [Layer("AvgPool_0a_3x3"), conv("0b_1x1", depth)]


def _create_figure5_module(
    projection: int, named: tuple[str, str] = ("Conv2d_0a_1x1", "Conv2d_0b_5x5")
) -> list[Branch]:
    """Creates the module of figure 5 of the paper."""
    return [
        [conv("0a_1x1", 64)],
        [Layer(named[0], 48), Layer(named[1], 64)],
        [conv("0a_1x1", 64), conv("0b_3x3", 96), conv("0c_3x3", 96)],
        _create_pooling_branch(projection),
    ]


def _create_figure6_module(narrow: int) -> list[Branch]:
    """Creates the module of figure 6 of the paper for n = 7."""
    double = [conv(place, narrow) for place in ("0a_1x1", "0b_7x1", "0c_1x7", "0d_7x1")]
    return [
        [conv("0a_1x1", 192)],
        [conv("0a_1x1", narrow), conv("0b_1x7", narrow), conv("0c_7x1", 192)],
        [*double, conv("0e_1x7", 192)],
        _create_pooling_branch(192),
    ]


def _create_figure7_module(second: str) -> list[Branch]:
    """Creates the module of figure 7; `second` names the end of the second branch."""
    return [
        [conv("0a_1x1", 320)],
        [conv("0a_1x1", 384), (conv("0b_1x3", 384), conv(second, 384))],
        [conv("0a_1x1", 448), conv("0b_3x3", 384), (conv("0c_1x3", 384), conv("0d_3x1", 384))],
        _create_pooling_branch(192),
    ]


# The checkpoints of slim name these kernels 1x1, although their size is 3x3.
_MISNAMED: dict[str, Any] = {"kernel_size": [3, 3], **_DOWNSAMPLING}
_STAGES: dict[str, Stage] = {
    "Conv2d_1a_3x3": conv("1a_3x3", 32, **_DOWNSAMPLING),
    "Conv2d_2a_3x3": conv("2a_3x3", 32, padding="VALID"),
    "Conv2d_2b_3x3": conv("2b_3x3", 64),
    "MaxPool_3a_3x3": Layer("MaxPool_3a_3x3", arguments=_DOWNSAMPLING),
    "Conv2d_3b_1x1": conv("3b_1x1", 80, padding="VALID"),
    "Conv2d_4a_3x3": conv("4a_3x3", 192, padding="VALID"),
    "MaxPool_5a_3x3": Layer("MaxPool_5a_3x3", arguments=_DOWNSAMPLING),
    "Mixed_5b": _create_figure5_module(32),
    "Mixed_5c": _create_figure5_module(64, named=("Conv2d_0b_1x1", "Conv_1_0c_5x5")),
    "Mixed_5d": _create_figure5_module(64),
    "Mixed_6a": [
        [conv("1a_1x1", 384, **_MISNAMED)],
        [conv("0a_1x1", 64), conv("0b_3x3", 96), conv("1a_1x1", 96, **_MISNAMED)],
        _POOLING_BRANCH,
    ],
    "Mixed_6b": _create_figure6_module(128),
    "Mixed_6c": _create_figure6_module(160),
    "Mixed_6d": _create_figure6_module(160),
    "Mixed_6e": _create_figure6_module(192),
    "Mixed_7a": [
        [conv("0a_1x1", 192), conv("1a_3x3", 320, **_DOWNSAMPLING)],
        [
            *(conv(place, 192) for place in ("0a_1x1", "0b_1x7", "0c_7x1")),
            conv("1a_3x3", 192, **_DOWNSAMPLING),
        ],
        _POOLING_BRANCH,
    ],
    "Mixed_7b": _create_figure7_module("0b_3x1"),
    "Mixed_7c": _create_figure7_module("0c_3x1"),
}


def inception_v3_base(
    inputs: TensorLike,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Scope | None = None,
) -> tuple[tf.Tensor, EndPoints]:
    """Computes the net up to an end point; see `inception_v2_base`."""
    with _v1.variable_scope(scope, "InceptionV3", [inputs]):
        return stack_stages(
            inputs, _STAGES, final_endpoint, scale_depths(min_depth, depth_multiplier)
        )


def _compute_auxiliary_logits(
    net: tf.Tensor, num_classes: int, depth: Depth, spatial_squeeze: bool
) -> tf.Tensor:
    """Computes logits from the middle of the net; their loss trains the earlier layers."""
    with _v1.variable_scope("AuxLogits"):
        pooling_arguments = {"stride": 3, "padding": "VALID", "scope": "AvgPool_1a_5x5"}
        net = layers.avg_pool2d(net, [5, 5], **pooling_arguments)
        net = layers.conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        kernel = limit_kernel(net, 5)
        kernel_arguments = {"padding": "VALID", "scope": "Conv2d_2a_{}x{}".format(*kernel)}
        initialization = {"weights_initializer": Initializer(0.0, 0.01)}
        net = layers.conv2d(net, depth(768), kernel, **kernel_arguments, **initialization)
        with arg_scope([layers.conv2d], weights_initializer=Initializer(0.0, 0.001)):
            return compute_logits(net, num_classes, spatial_squeeze, "Conv2d_2b_1x1")


def inception_v3(
    inputs: TensorLike,
    num_classes: int = 1000,
    is_training: Condition = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., tf.Tensor] = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    scope: Scope = "InceptionV3",
) -> tuple[tf.Tensor, EndPoints]:
    """Computes the complete net, with auxiliary logits in the end point AuxLogits.

    See `inception_v2` for the arguments.
    """
    with (
        _v1.variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as net_scope,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        base_arguments = {
            "min_depth": min_depth,
            "depth_multiplier": depth_multiplier,
            "scope": net_scope,
        }
        net, end_points = inception_v3_base(inputs, **base_arguments)
        with keep_size():
            end_points["AuxLogits"] = _compute_auxiliary_logits(
                end_points["Mixed_6e"],
                num_classes,
                scale_depths(min_depth, depth_multiplier),
                spatial_squeeze,
            )
        before, net = compute_pooled_logits(net, 8, num_classes, dropout_keep_prob, spatial_squeeze)
        end_points["PreLogits"], end_points["Logits"] = before, net
        end_points["Predictions"] = prediction_fn(net, scope="Predictions")
    return net, end_points


vars(inception_v3)["default_image_size"] = 299


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Collections = _v1.GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> ArgScope:
    """Returns the arg_scope of this net; see `inception_arg_scope`."""
    return inception_arg_scope(
        weight_decay,
        batch_norm_var_collection,
        decay=batch_norm_decay,
        epsilon=batch_norm_epsilon,
        updates_collections=updates_collections,
        fused=use_fused_batchnorm,
    )
