"""`tf.contrib.slim.tfexample_decoder`: items of serialized tf.train.Examples."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.slim.data_decoder import DataDecoder
from estimator_train.legacy.contrib.slim.item_handlers import (
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
    """Parses an Example and makes items of its features.

    Args:
      keys_to_features: What `tf.io.parse_single_example` takes: names to features.
      items_to_handlers: Names of items to the ItemHandlers that make them.
    """

    def __init__(
        self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]
    ) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """The names of all items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Sequence[str] | None = None) -> list[Any]:
        """The tensors of some items, in their order.

        Args:
          serialized_example: A string tensor without dimensions.
          items: Names of items; all by default.
        """
        features = tf.io.parse_single_example(serialized_example, self._keys_to_features)
        handlers = [
            self._items_to_handlers[item]
            for item in (self.list_items() if items is None else items)
        ]
        return [one.tensors_to_item({key: features[key] for key in one.keys}) for one in handlers]
