"""`tf.contrib.slim.dataset_data_provider`: items of the examples of a dataset."""

from collections.abc import Mapping, Sequence
from typing import Any

from tf_contrib.slim.dataset import Dataset
from tf_contrib.slim.parallel_reader import parallel_read


class DataProvider:
    """Provider of the tensors of one example; base class of a program's own providers.

    Args:
      items_to_tensors: Names of items to their tensors.
      num_samples: Number of examples in the dataset, or None if it is not known.
    """

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: int | None) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """Returns the tensors of some items, in their order.

        Raises:
          ValueError: An item is unknown.
        """
        for item in items:
            if item not in self._items_to_tensors:
                known_items = self._items_to_tensors.keys()
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {known_items}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> list[str]:
        """Returns the names of all items."""
        return list(self._items_to_tensors)

    def num_samples(self) -> int | None:
        """Returns the number of examples in the dataset."""
        return self._num_samples


class DatasetDataProvider(DataProvider):
    """Provider of the tensors of one example; each session run reads the next one.

    Arguments that are not listed are those of `parallel_read`.

    Args:
      dataset: A `slim.dataset.Dataset`.
      common_queue_capacity: Argument `capacity` of `parallel_read`.
      common_queue_min: Argument `min_after_dequeue` of `parallel_read`.
      record_key: Name of the item with the key of the record.

    Raises:
      ValueError: An item of the dataset is named record_key.
    """

    def __init__(
        self,
        dataset: Dataset,
        num_readers: int = 1,
        reader_kwargs: Mapping[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        key, record = parallel_read(
            dataset.data_sources,
            dataset.reader,
            num_epochs,
            num_readers,
            reader_kwargs,
            shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        names = dataset.decoder.list_items()
        if record_key in names:
            raise ValueError(f"The item name used for `record_key` cannot also be used for {names}")
        tensors = dataset.decoder.decode(record, names)
        items = {**dict(zip(names, tensors, strict=True)), record_key: key}
        super().__init__(items, dataset.num_samples)
