"""Inception with factorized kernels (Szegedy and others, "Rethinking the Inception ...", 2015)."""

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
    kernel_within,
    logits,
    pooled_logits,
    same_size,
    stacked,
)

_v1 = tf.compat.v1
_HALVED = {"stride": 2, "padding": "VALID"}
_SMALLER: Branch = [Layer("MaxPool_1a_3x3", arguments=_HALVED)]


def _pooled(depth: int) -> Branch:
    return [Layer("AvgPool_0a_3x3"), conv("0b_1x1", depth)]


def _fives(projection: int, named: tuple[str, str] = ("Conv2d_0a_1x1", "Conv2d_0b_5x5")) -> Any:
    """The module of the paper's figure 5."""
    return [
        [conv("0a_1x1", 64)],
        [Layer(named[0], 48), Layer(named[1], 64)],
        [conv("0a_1x1", 64), conv("0b_3x3", 96), conv("0c_3x3", 96)],
        _pooled(projection),
    ]


def _sevens(narrow: int) -> list[Branch]:
    """The module of figure 6, with seven for n."""
    double = [conv(place, narrow) for place in ("0a_1x1", "0b_7x1", "0c_1x7", "0d_7x1")]
    return [
        [conv("0a_1x1", 192)],
        [conv("0a_1x1", narrow), conv("0b_1x7", narrow), conv("0c_7x1", 192)],
        [*double, conv("0e_1x7", 192)],
        _pooled(192),
    ]


def _wide(second: str) -> list[Branch]:
    """The module of figure 7; its second branch ends with a name that differs by module."""
    return [
        [conv("0a_1x1", 320)],
        [conv("0a_1x1", 384), (conv("0b_1x3", 384), conv(second, 384))],
        [conv("0a_1x1", 448), conv("0b_3x3", 384), (conv("0c_1x3", 384), conv("0d_3x1", 384))],
        _pooled(192),
    ]


# Checkpoints have this name of kernels of three.
_MISNAMED: dict[str, Any] = {"kernel_size": [3, 3], **_HALVED}
_STAGES: dict[str, Stage] = {
    "Conv2d_1a_3x3": conv("1a_3x3", 32, **_HALVED),
    "Conv2d_2a_3x3": conv("2a_3x3", 32, padding="VALID"),
    "Conv2d_2b_3x3": conv("2b_3x3", 64),
    "MaxPool_3a_3x3": Layer("MaxPool_3a_3x3", arguments=_HALVED),
    "Conv2d_3b_1x1": conv("3b_1x1", 80, padding="VALID"),
    "Conv2d_4a_3x3": conv("4a_3x3", 192, padding="VALID"),
    "MaxPool_5a_3x3": Layer("MaxPool_5a_3x3", arguments=_HALVED),
    "Mixed_5b": _fives(32),
    "Mixed_5c": _fives(64, named=("Conv2d_0b_1x1", "Conv_1_0c_5x5")),
    "Mixed_5d": _fives(64),
    "Mixed_6a": [
        [conv("1a_1x1", 384, **_MISNAMED)],
        [conv("0a_1x1", 64), conv("0b_3x3", 96), conv("1a_1x1", 96, **_MISNAMED)],
        _SMALLER,
    ],
    "Mixed_6b": _sevens(128),
    "Mixed_6c": _sevens(160),
    "Mixed_6d": _sevens(160),
    "Mixed_6e": _sevens(192),
    "Mixed_7a": [
        [conv("0a_1x1", 192), conv("1a_3x3", 320, **_HALVED)],
        [
            *(conv(place, 192) for place in ("0a_1x1", "0b_1x7", "0c_7x1")),
            conv("1a_3x3", 192, **_HALVED),
        ],
        _SMALLER,
    ],
    "Mixed_7b": _wide("0b_3x1"),
    "Mixed_7c": _wide("0c_3x1"),
}


def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[tf.Tensor, EndPoints]:
    """The net up to one of its end points; see `inception_v2_base`."""
    with _v1.variable_scope(scope, "InceptionV3", [inputs]):
        return stacked(inputs, _STAGES, final_endpoint, depths(min_depth, depth_multiplier))


def _auxiliary(net: tf.Tensor, num_classes: int, depth: Depth, spatial_squeeze: bool) -> tf.Tensor:
    """Logits from the middle of the net, whose loss helps the layers before."""
    with _v1.variable_scope("AuxLogits"):
        pooled = {"stride": 3, "padding": "VALID", "scope": "AvgPool_1a_5x5"}
        net = layers.avg_pool2d(net, [5, 5], **pooled)
        net = layers.conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        kernel = kernel_within(net, 5)
        whole = {"padding": "VALID", "scope": "Conv2d_2a_{}x{}".format(*kernel)}
        begun = {"weights_initializer": Initializer(0.0, 0.01)}
        net = layers.conv2d(net, depth(768), kernel, **whole, **begun)
        with arg_scope([layers.conv2d], weights_initializer=Initializer(0.0, 0.001)):
            return logits(net, num_classes, spatial_squeeze, "Conv2d_2b_1x1")


def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., tf.Tensor] = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> tuple[tf.Tensor, EndPoints]:
    """The whole net; see `inception_v2`. The end point AuxLogits has logits from its middle."""
    with (
        _v1.variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as entered,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        made = {"min_depth": min_depth, "depth_multiplier": depth_multiplier, "scope": entered}
        net, end_points = inception_v3_base(inputs, **made)
        with same_size():
            end_points["AuxLogits"] = _auxiliary(
                end_points["Mixed_6e"],
                num_classes,
                depths(min_depth, depth_multiplier),
                spatial_squeeze,
            )
        before, net = pooled_logits(net, 8, num_classes, dropout_keep_prob, spatial_squeeze)
        end_points["PreLogits"], end_points["Logits"] = before, net
        end_points["Predictions"] = prediction_fn(net, scope="Predictions")
    return net, end_points


vars(inception_v3)["default_image_size"] = 299


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = _v1.GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Any:
    """The arguments for this net; see `inception_arg_scope`."""
    return inception_arg_scope(
        weight_decay,
        batch_norm_var_collection,
        decay=batch_norm_decay,
        epsilon=batch_norm_epsilon,
        updates_collections=updates_collections,
        fused=use_fused_batchnorm,
    )
