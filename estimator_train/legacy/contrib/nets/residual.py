"""The whole of a residual net, of both versions."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib import layers
from estimator_train.legacy.contrib.framework.arg_scope import arg_scope
from estimator_train.legacy.contrib.layers import utils
from estimator_train.legacy.contrib.nets.resnet_utils import (
    Block,
    Net,
    conv2d_same,
    stack_blocks_dense,
)

_v1 = tf.compat.v1
_PLAIN = {"activation_fn": None, "normalizer_fn": None}


def residual(
    name: str, unit: Callable[..., tf.Tensor], before: bool
) -> Callable[..., tuple[tf.Tensor, dict[str, tf.Tensor]]]:
    """A residual net as a function of its blocks.

    Args:
      name: Of the function, and the default of its scope.
      unit: The bottleneck, which may take its outputs' collection from an arg_scope.
      before: Whether units activate what they get, not what they give.
    """

    def net(
        inputs: Any,
        blocks: Sequence[Block],
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: float | None = None,
        include_root_block: bool = True,
        reuse: Any = None,
        scope: Any = None,
    ) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        with _v1.variable_scope(scope, name, [inputs], reuse=reuse) as entered:
            points = f"{entered.original_name_scope}_end_points"
            collected = [layers.conv2d, unit, stack_blocks_dense]
            with (
                arg_scope(collected, outputs_collections=points),
                arg_scope([layers.batch_norm], is_training=is_training),
            ):
                outputs, stride = inputs, output_stride
                if include_root_block:
                    outputs, stride = _root(inputs, output_stride, _PLAIN if before else {})
                outputs = stack_blocks_dense(outputs, blocks, stride)
                if before:
                    # Nothing but the last unit's sum has been activated yet.
                    activated = {"activation_fn": tf.nn.relu, "scope": "postnorm"}
                    outputs = layers.batch_norm(outputs, **activated)
                if global_pool:
                    outputs = tf.reduce_mean(outputs, [1, 2], keepdims=True, name="pool5")
                if num_classes is not None:
                    outputs = layers.conv2d(outputs, num_classes, 1, scope="logits", **_PLAIN)
            end_points = utils.convert_collection_to_dict(points)
            if num_classes is not None:
                end_points["predictions"] = layers.softmax(outputs, scope="predictions")
            return outputs, end_points

    net.__name__ = net.__qualname__ = name
    net.__doc__ = _DOCUMENTATION
    vars(net)["default_image_size"] = 224
    return net


_DOCUMENTATION = """A residual net.

Args:
  inputs: Pictures, (batch, height, width, channels).
  blocks: Its blocks.
  num_classes: How many classes there are; None: the output is that of the blocks.
  is_training: Whether batch_norm normalizes by the batch.
  global_pool: Whether the output is the mean of all places.
  output_stride: How much smaller than the pictures the output is at most; None: as the blocks say.
  include_root_block: Whether a convolution and a pool come first, which make a fourth of it.
  reuse: Whether the variables are there already.
  scope: The net's name.

Returns:
  The output, of height and width 1 after global_pool, and the outputs of all layers by name.

Raises:
  ValueError: The blocks do not come to output_stride.
"""


def _root(
    inputs: Any, output_stride: float | None, made: dict[str, Any]
) -> tuple[tf.Tensor, float | None]:
    """The first convolution and pool, and what is left of output_stride."""
    if output_stride is not None and output_stride % 4:
        raise ValueError("The output_stride needs to be a multiple of 4.")
    with arg_scope([layers.conv2d], **made):
        outputs = conv2d_same(inputs, 64, 7, stride=2, scope="conv1")
    outputs = layers.max_pool2d(outputs, [3, 3], stride=2, scope="pool1")
    return outputs, output_stride and output_stride / 4


# Number of layers to that of units in each block; three layers a unit, and two beside them.
UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}


def of_depth(depth: int, resnet: Net, block: Callable[[str, int, int, int], Block]) -> Net:
    """A residual net of four blocks as a function.

    Args:
      depth: The number of its layers.
      resnet: The net of blocks.
      block: A block of a name, a base depth, a number of units and a stride.
    """
    name = f"{resnet.__name__}_{depth}"

    def net(
        inputs: Any,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: Any = None,
        scope: Any = name,
    ) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        sizes = zip((64, 128, 256, 512), UNITS[depth], (2, 2, 2, 1), strict=True)
        blocks = [block(f"block{number}", *size) for number, size in enumerate(sizes, 1)]
        made = {"output_stride": output_stride, "reuse": reuse, "scope": scope}
        return resnet(inputs, blocks, num_classes, is_training, global_pool, **made)

    net.__name__ = net.__qualname__ = name
    net.__doc__ = f"The residual net {name}; see `{resnet.__name__}` for its arguments."
    return net
