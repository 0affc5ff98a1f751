"""TensorFlow Datasets by name, where that package is installed."""

from typing import Any

import tensorflow as tf

from input_fns.pipeline.batching import in_batches
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
    """Gives a data set of the package tensorflow-datasets in batches.

    Args:
      name: Its name, as 'mnist' or 'glue/sst2'.
      split: Its part, as 'train' or 'test[:10%]'.
      data_dir: Folder of prepared data sets; None is the package's own default.
      download: Whether it may be downloaded and prepared.
      as_supervised: Whether rows are (features, label); else they are dicts.
      **settings: The settings of `PipelineOptions`, or `options` with all of them.

    Returns:
      A `tf.data.Dataset` of the rows in batches.

    Raises:
      ImportError: The package is not installed.
      ValueError: An argument is out of its range.
    """
    options = PipelineOptions.of(settings)
    try:
        import tensorflow_datasets  # Imported only here: nothing else in the package needs it.
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
    return in_batches(rows, options)
