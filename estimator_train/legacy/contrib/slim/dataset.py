"""`tf.contrib.slim.dataset`: where examples are and how they are read."""

from typing import Any


class Dataset:
    """What a DatasetDataProvider needs to know.

    Args:
      data_sources: Files or patterns of files.
      reader: The class of a reader, as tf.TFRecordReader.
      decoder: A DataDecoder.
      num_samples: The number of examples.
      items_to_descriptions: What each item is, for whoever reads it.
      **kwargs: Further attributes.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: int | None,
        items_to_descriptions: Any,
        **kwargs: Any,
    ) -> None:
        self.__dict__.update(
            kwargs,
            data_sources=data_sources,
            reader=reader,
            decoder=decoder,
            num_samples=num_samples,
            items_to_descriptions=items_to_descriptions,
        )
