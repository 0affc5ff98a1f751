"""Batches of a data set of the optional package tensorflow-datasets."""

from typing import Any

import tensorflow as tf

from input_fns.pipeline.batching import batch_dataset
from input_fns.pipeline.options import PipelineOptions


def tfds(
    name: str,
    split: str = "train",
    *,
    data_dir: str | None = None,
    download: bool = False,
    as_supervised: bool = True,
    **settings: Any,
) -> tf.data.Dataset:
    """Returns batches of a data set of the package tensorflow-datasets.

    Args:
      name: Name of the data set, such as 'mnist' or 'glue/sst2'.
      split: Part of the data set, such as 'train' or 'test[:10%]'.
      data_dir: Folder of prepared data sets; None means the default folder of the package.
      download: Whether the package may download and prepare the data set.
      as_supervised: Whether rows are (features, label) pairs rather than dicts.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of the rows in batches.

    Raises:
      ImportError: The package is not installed.
      ValueError: An argument is out of range.
    """
    options = PipelineOptions.from_arguments(settings)
    try:
        import tensorflow_datasets  # Optional: only this source needs it.
    except ImportError as error:
        raise ImportError(
            "input_fns.tfds needs the package tensorflow-datasets: pip install tensorflow-datasets."
        ) from error
    rows = tensorflow_datasets.load(
        name,
        split=split,
        data_dir=data_dir,
        download=download,
        as_supervised=as_supervised,
        shuffle_files=options.shuffle,
    )
    return batch_dataset(rows, options)
