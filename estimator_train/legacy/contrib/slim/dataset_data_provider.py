"""`tf.contrib.slim.dataset_data_provider`: items of the examples of a dataset."""

from collections.abc import Mapping, Sequence
from typing import Any

from estimator_train.legacy.contrib.slim.dataset import Dataset
from estimator_train.legacy.contrib.slim.parallel_reader import parallel_read


class DatasetDataProvider:
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
        self._tensors = {**dict(zip(names, tensors, strict=True)), record_key: key}
        self._num_samples = dataset.num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """Returns the tensors of some items, in their order.

        Raises:
          ValueError: An item is unknown.
        """
        for item in items:
            if item not in self._tensors:
                known_items = self._tensors.keys()
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {known_items}")
        return [self._tensors[item] for item in items]

    def list_items(self) -> list[str]:
        """Returns the names of all items."""
        return list(self._tensors)

    def num_samples(self) -> int | None:
        """Returns the number of examples in the dataset."""
        return self._num_samples
