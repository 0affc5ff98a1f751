"""`tf.contrib.learn.datasets.mnist`, which reads MNIST from local files."""

import collections
import gzip
import os
from typing import Any

import numpy as np

Datasets = collections.namedtuple("Datasets", "train validation test")
_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


class DataSet:
    """Images and labels that are read in batches.

    Args:
      images: Shape (examples, rows, columns, 1), values from 0 to 255.
      labels: Class numbers, or one-hot vectors.
      fake_data: Not supported.
      one_hot: Not used: `labels` are read as they are.
      dtype: float32 divides the values by 255; uint8 keeps them.
      reshape: Whether images become vectors.
      seed: Seed of the order.
    """

    def __init__(
        self,
        images: np.ndarray,
        labels: np.ndarray,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = np.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        if reshape:
            images = images.reshape(len(images), -1)
        if np.dtype(getattr(dtype, "as_numpy_dtype", dtype)) == np.float32:
            images = images.astype(np.float32) / 255
        self.images, self.labels = images, labels
        self.num_examples = len(images)
        self.epochs_completed = 0
        self._random = np.random.RandomState(seed)
        self._order = np.arange(self.num_examples)
        self._position = 0

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns the next images and labels; a batch can contain examples of two epochs.

        Args:
          batch_size: Number of examples.
          fake_data: Not supported.
          shuffle: Whether each epoch has another order.
        """
        if shuffle and self._position == 0 and self.epochs_completed == 0:
            self._random.shuffle(self._order)
        # Copied, because the shuffle below changes the order in place.
        chosen = self._order[self._position : self._position + batch_size].copy()
        self._position += batch_size
        if self._position >= self.num_examples:
            missing = batch_size - len(chosen)
            self.epochs_completed += 1
            if shuffle:
                self._random.shuffle(self._order)
            chosen = np.concatenate([chosen, self._order[:missing]])
            self._position = missing
        return self.images[chosen], self.labels[chosen]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = np.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    **unused: Any,
) -> Datasets:
    """Reads MNIST, or data in its format, from a directory.

    Args:
      train_dir: The directory with the four files; this function downloads nothing.
      fake_data: Not supported.
      one_hot: Whether labels are one-hot vectors.
      dtype: float32 for values from 0 to 1, or uint8 for values from 0 to 255.
      reshape: Whether images are vectors of 784 values.
      validation_size: Number of training images that become the validation set.
      seed: Seed of the order.
      **unused: Other arguments of TensorFlow 1, such as `source_url`.

    Raises:
      FileNotFoundError: A file is missing.
      ValueError: validation_size is larger than the training data.
    """
    arrays = [_read(os.path.join(train_dir, name)) for name in _FILES]
    if not 0 <= validation_size <= len(arrays[0]):
        raise ValueError(
            f"Validation size should be between 0 and {len(arrays[0])}. "
            f"Received: {validation_size}."
        )
    images = [array[..., np.newaxis] for array in arrays[::2]]
    labels = [np.eye(10)[array] if one_hot else array for array in arrays[1::2]]
    parts = (slice(validation_size, None), slice(validation_size))
    settings = {"dtype": dtype, "reshape": reshape, "seed": seed}
    train, validation = (DataSet(images[0][p], labels[0][p], **settings) for p in parts)
    return Datasets(train, validation, DataSet(images[1], labels[1], **settings))


def _read(path: str) -> np.ndarray:
    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file; put the four files of MNIST there", path)
    with gzip.open(path) as file:
        content = file.read()
    rank = content[3]
    shape = np.frombuffer(content, ">i4", rank, 4)
    return np.frombuffer(content, np.uint8, -1, 4 + 4 * rank).reshape(shape)
