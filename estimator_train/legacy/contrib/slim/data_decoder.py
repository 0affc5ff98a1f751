"""`tf.contrib.slim.data_decoder`: what every decoder of examples has."""

import abc
from collections.abc import Sequence
from typing import Any


class DataDecoder(abc.ABC):
    """Turns what a reader gives into tensors, each by the name of its item."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Sequence[str]) -> list[Any]:
        """The tensors of some items, in their order.

        Args:
          data: What the reader gave, often a serialized tf.train.Example.
          items: Names of items.
        """

    @abc.abstractmethod
    def list_items(self) -> list[str]:
        """The names of all items."""
