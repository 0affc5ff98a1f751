"""`input_data.read_data_sets`: MNIST as TensorFlow's first tutorials read it."""

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
    """Images and labels, batch after batch.

    Args:
      images: Shape (examples, 784), values from 0 to 1; or (examples, 28, 28, 1).
      labels: Class numbers, or vectors with a one.
      seed: Of the order.
    """

    def __init__(self, images: np.ndarray, labels: np.ndarray, seed: int | None = None) -> None:
        self.images, self.labels = images, labels
        self.num_examples = len(images)
        self.epochs_completed = 0
        self._random = np.random.RandomState(seed)
        self._order = np.arange(self.num_examples)
        self._at = 0

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """The next images and labels; at the end of an epoch it goes on with the next.

        Args:
          batch_size: Examples in it.
          fake_data: Not supported.
          shuffle: Whether each epoch has another order.
        """
        if shuffle and self._at == 0 and self.epochs_completed == 0:
            self._random.shuffle(self._order)
        # A copy, for the order changes with the epoch.
        chosen = self._order[self._at : self._at + batch_size].copy()
        self._at += batch_size
        if self._at >= self.num_examples:
            missing = batch_size - len(chosen)
            self.epochs_completed += 1
            if shuffle:
                self._random.shuffle(self._order)
            chosen = np.concatenate([chosen, self._order[:missing]])
            self._at = missing
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
) -> Any:
    """Reads MNIST, or what has its format, from a directory.

    Args:
      train_dir: The directory with the four files; nothing is downloaded.
      fake_data: Not supported.
      one_hot: Whether labels are vectors with a one.
      dtype: Not used: values are float32 from 0 to 1.
      reshape: Whether images are vectors of 784.
      validation_size: Training images that are set aside.
      seed: Of the order.
      **unused: Where it came from.

    Raises:
      FileNotFoundError: A file is not there.
      ValueError: validation_size is larger than the training data.
    """
    arrays = [_read(os.path.join(train_dir, name)) for name in _FILES]
    if not 0 <= validation_size <= len(arrays[0]):
        raise ValueError(
            f"Validation size should be between 0 and {len(arrays[0])}. "
            f"Received: {validation_size}."
        )
    images = [_images(array, reshape) for array in arrays[::2]]
    labels = [np.eye(10)[array] if one_hot else array for array in arrays[1::2]]
    parts = (slice(validation_size, None), slice(validation_size))
    train, validation = (DataSet(images[0][p], labels[0][p], seed) for p in parts)
    return Datasets(train, validation, DataSet(images[1], labels[1], seed))


def _read(path: str) -> np.ndarray:
    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file; put the four files of MNIST there", path)
    with gzip.open(path) as file:
        content = file.read()
    rank = content[3]
    shape = np.frombuffer(content, ">i4", rank, 4)
    return np.frombuffer(content, np.uint8, -1, 4 + 4 * rank).reshape(shape)


def _images(array: np.ndarray, reshape: bool) -> np.ndarray:
    shape = (len(array), -1) if reshape else (*array.shape, 1)
    return array.reshape(shape).astype(np.float32) / 255
