"""`tf.contrib.slim.dataset`: files of examples and how to read them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tf_contrib.slim.data_decoder import DataDecoder


class Dataset:
    """Description of a dataset for a DatasetDataProvider.

    Args:
      data_sources: Files or patterns of files.
      reader: Class of a reader, for example tf.TFRecordReader.
      decoder: DataDecoder.
      num_samples: Number of examples.
      items_to_descriptions: Descriptions of the items by name.
      **kwargs: Further attributes.
    """

    def __init__(
        self,
        data_sources: str | Sequence[str],
        reader: type,
        decoder: DataDecoder,
        num_samples: int | None,
        items_to_descriptions: Mapping[str, str] | None,
        **kwargs: Any,
    ) -> None:
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions
        vars(self).update(kwargs)
