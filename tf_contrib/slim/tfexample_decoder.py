"""`tf.contrib.slim.tfexample_decoder`: items of serialized tf.train.Examples."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import TensorLike
from tf_contrib.slim.data_decoder import DataDecoder
from tf_contrib.slim.item_handlers import (
    BackupHandler as BackupHandler,
    BoundingBox as BoundingBox,
    Image as Image,
    ItemHandler as ItemHandler,
    ItemHandlerCallback as ItemHandlerCallback,
    LookupTensor as LookupTensor,
    SparseTensor as SparseTensor,
    Tensor as Tensor,
)


class TFExampleDecoder(DataDecoder):
    """Decoder that parses an Example and converts its features to items.

    Args:
      keys_to_features: Features by name, as `tf.io.parse_single_example` takes them.
      items_to_handlers: ItemHandlers by the names of their items.
    """

    def __init__(
        self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]
    ) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """Returns the names of all items."""
        return list(self._items_to_handlers)

    def decode(
        self, serialized_example: TensorLike, items: Sequence[str] | None = None
    ) -> list[Any]:
        """Returns the tensors of some items, in their order.

        Args:
          serialized_example: Scalar string tensor.
          items: Names of items; all by default.
        """
        features = tf.io.parse_single_example(serialized_example, self._keys_to_features)
        handlers = [
            self._items_to_handlers[item]
            for item in (self.list_items() if items is None else items)
        ]
        return [one.tensors_to_item({key: features[key] for key in one.keys}) for one in handlers]
