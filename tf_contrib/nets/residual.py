"""Residual nets of both versions."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib import layers
from tf_contrib._types import Condition, Scope, TensorLike
from tf_contrib.framework.arg_scope import arg_scope
from tf_contrib.layers import utils
from tf_contrib.nets.resnet_utils import (
    Block,
    Net,
    conv2d_same,
    stack_blocks_dense,
)

_v1 = tf.compat.v1
_LINEAR = {"activation_fn": None, "normalizer_fn": None}


def create_residual_net(
    name: str, unit: Callable[..., tf.Tensor], activates_inputs: bool
) -> Callable[..., tuple[tf.Tensor, dict[str, tf.Tensor]]]:
    """Creates a residual net as a function of its blocks.

    Args:
      name: Name of the function, and default of its scope.
      unit: Bottleneck unit, which takes its outputs' collection from an arg_scope.
      activates_inputs: Whether units activate their inputs instead of their outputs.
    """

    def net(
        inputs: TensorLike,
        blocks: Sequence[Block],
        num_classes: int | None = None,
        is_training: Condition = True,
        global_pool: bool = True,
        output_stride: float | None = None,
        include_root_block: bool = True,
        reuse: bool | None = None,
        scope: Scope | None = None,
    ) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        with _v1.variable_scope(scope, name, [inputs], reuse=reuse) as net_scope:
            points_collection = f"{net_scope.original_name_scope}_end_points"
            collected_layers = [layers.conv2d, unit, stack_blocks_dense]
            with (
                arg_scope(collected_layers, outputs_collections=points_collection),
                arg_scope([layers.batch_norm], is_training=is_training),
            ):
                outputs, stride = inputs, output_stride
                if include_root_block:
                    outputs, stride = _apply_root_block(
                        inputs, output_stride, _LINEAR if activates_inputs else {}
                    )
                outputs = stack_blocks_dense(outputs, blocks, stride)
                if activates_inputs:
                    # The output of the last unit is not activated yet.
                    activation = {"activation_fn": tf.nn.relu, "scope": "postnorm"}
                    outputs = layers.batch_norm(outputs, **activation)
                if global_pool:
                    outputs = tf.reduce_mean(outputs, [1, 2], keepdims=True, name="pool5")
                if num_classes is not None:
                    outputs = layers.conv2d(outputs, num_classes, 1, scope="logits", **_LINEAR)
            end_points = utils.convert_collection_to_dict(points_collection)
            if num_classes is not None:
                end_points["predictions"] = layers.softmax(outputs, scope="predictions")
            return outputs, end_points

    net.__name__ = net.__qualname__ = name
    net.__doc__ = _DOCUMENTATION
    vars(net)["default_image_size"] = 224
    return net


_DOCUMENTATION = """Computes a residual net.

Args:
  inputs: Images, (batch, height, width, channels).
  blocks: Blocks of the net.
  num_classes: Number of classes; None: return the output of the blocks.
  is_training: Whether to normalize by the batch.
  global_pool: Whether to average over all positions.
  output_stride: Maximum ratio of input to output size; None: that of the blocks.
  include_root_block: Whether to start with a convolution and pooling, of stride 4.
  reuse: Whether to reuse existing variables.
  scope: Variable scope of the net.

Returns:
  The output, of height and width 1 with global_pool, and the outputs of all layers by name.

Raises:
  ValueError: The strides of the blocks cannot reach output_stride.
"""


def _apply_root_block(
    inputs: TensorLike, output_stride: float | None, arguments: dict[str, Any]
) -> tuple[tf.Tensor, float | None]:
    """Applies the first convolution and pooling; returns the outputs and the remaining stride."""
    if output_stride is not None and output_stride % 4:
        raise ValueError("The output_stride needs to be a multiple of 4.")
    with arg_scope([layers.conv2d], **arguments):
        outputs = conv2d_same(inputs, 64, 7, stride=2, scope="conv1")
    outputs = layers.max_pool2d(outputs, [3, 3], stride=2, scope="pool1")
    return outputs, output_stride and output_stride / 4


# Units in each block, by the number of layers: three in each unit and two outside.
UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}


def create_net_of_depth(
    depth: int, resnet: Net, block: Callable[[str, int, int, int], Block]
) -> Net:
    """Creates a residual net of four blocks as a function.

    Args:
      depth: Number of layers.
      resnet: Function of the net.
      block: Function of a name, a base depth, a number of units and a stride that returns a block.
    """
    name = f"{resnet.__name__}_{depth}"

    def net(
        inputs: TensorLike,
        num_classes: int | None = None,
        is_training: Condition = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: bool | None = None,
        scope: Scope = name,
    ) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        sizes = zip((64, 128, 256, 512), UNITS[depth], (2, 2, 2, 1), strict=True)
        blocks = [block(f"block{number}", *size) for number, size in enumerate(sizes, 1)]
        arguments = {"output_stride": output_stride, "reuse": reuse, "scope": scope}
        return resnet(inputs, blocks, num_classes, is_training, global_pool, **arguments)

    net.__name__ = net.__qualname__ = name
    net.__doc__ = f"Computes the residual net {name}; see `{resnet.__name__}` for the arguments."
    return net
