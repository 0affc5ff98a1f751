"""`tf.contrib.slim.data_decoder`: base class of decoders of examples."""

import abc
from collections.abc import Sequence
from typing import Any

from tf_contrib._types import TensorLike


class DataDecoder(abc.ABC):
    """Decoder of records to tensors, which are named items."""

    @abc.abstractmethod
    def decode(self, data: TensorLike, items: Sequence[str]) -> list[Any]:
        """Returns the tensors of some items, in their order.

        Args:
          data: Record of a reader, often a serialized tf.train.Example.
          items: Names of items.
        """

    @abc.abstractmethod
    def list_items(self) -> list[str]:
        """Returns the names of all items."""
