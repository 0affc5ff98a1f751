"""`tf.contrib.slim.dataset_data_provider`: the items of a dataset's examples."""

from collections.abc import Mapping, Sequence
from typing import Any

from estimator_train.legacy.contrib.slim.parallel_reader import parallel_read


class DatasetDataProvider:
    """Tensors of one example, which is another one in each run.

    Arguments that are not named here are those of `parallel_read`.

    Args:
      dataset: A `slim.dataset.Dataset`.
      common_queue_capacity: The `capacity` of `parallel_read`.
      common_queue_min: The `min_after_dequeue` of `parallel_read`.
      record_key: The name of the item with the record's key.

    Raises:
      ValueError: An item of the dataset has the name of the record's key.
    """

    def __init__(
        self,
        dataset: Any,
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
        """The tensors of some items, in their order.

        Raises:
          ValueError: There is no such item.
        """
        for item in items:
            if item not in self._tensors:
                there_are = self._tensors.keys()
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {there_are}")
        return [self._tensors[item] for item in items]

    def list_items(self) -> list[str]:
        """The names of all items."""
        return list(self._tensors)

    def num_samples(self) -> Any:
        """The number of examples that the dataset tells."""
        return self._num_samples
