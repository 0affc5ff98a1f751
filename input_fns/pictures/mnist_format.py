"""Batches of MNIST, Fashion-MNIST, and other data sets in four IDX files of the same names."""

import itertools
import os
from typing import Any

import tensorflow as tf

from input_fns.pictures.idx import PathLike, idx, write_idx
from input_fns.pipeline import checks

_PREFIXES = {"train": "train", "test": "t10k"}
_IMAGES = "{}-images-idx3-ubyte"
_LABELS = "{}-labels-idx1-ubyte"


def mnist_format(
    data_dir: PathLike, split: str = "train", *, one_hot: bool = True, **settings: Any
) -> tf.data.Dataset:
    """Returns batches of the pictures of a folder with MNIST's four IDX files.

    Args:
      data_dir: Folder with `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`,
        `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`, each with or without `.gz`.
      split: 'train' or 'test'.
      one_hot: Whether labels are one-hot, for categorical cross-entropy.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of (pictures, labels): tf.float32 of shape (batch_size, 28, 28, 1)
      from 0.0 to 1.0, and tf.float32 of shape (batch_size, 10), or tf.int32 of shape
      (batch_size,) if not one-hot.

    Raises:
      FileNotFoundError: The folder or a file does not exist.
      ValueError: A file is damaged or an argument is out of range.
    """
    checks.one_of("split", split, _PREFIXES)
    data_dir = checks.path("data_dir", data_dir)
    prefix = _PREFIXES[split]
    return idx(
        _require(data_dir, _IMAGES.format(prefix)),
        _require(data_dir, _LABELS.format(prefix)),
        num_classes=10 if one_hot else None,
        **settings,
    )


def _find(data_dir: str, name: str) -> str | None:
    candidates = (os.path.join(data_dir, file) for file in (f"{name}.gz", name))
    return next((path for path in candidates if tf.io.gfile.exists(path)), None)


def _require(data_dir: str, name: str) -> str:
    path = _find(data_dir, name)
    if path is not None:
        return path
    state = "does not exist"
    if tf.io.gfile.isdir(data_dir):
        some = ", ".join(sorted(tf.io.gfile.listdir(data_dir))[:8])
        state = f"holds {some}" if some else "is empty"
    raise FileNotFoundError(
        f"There is neither {name}.gz nor {name} in data_dir {data_dir!r}, which {state}. Put "
        "the four files of MNIST or Fashion-MNIST there; input_fns.mnist and "
        "input_fns.fashion_mnist download them if called with download=True."
    )


def mnist(
    data_dir: PathLike, split: str = "train", *, download: bool = False, **settings: Any
) -> tf.data.Dataset:
    """Returns batches of the handwritten digits of MNIST.

    Args:
      data_dir: Folder with the four files that `mnist_format` reads.
      split: 'train' (60,000 pictures) or 'test' (10,000 pictures).
      download: Whether tf_keras may download missing files into `data_dir`.
      **settings: `one_hot` and the batch settings of `mnist_format`.

    Returns:
      The same `tf.data.Dataset` as `mnist_format`.

    Raises:
      FileNotFoundError: A file does not exist and `download` is False.
      ValueError: A file is damaged or an argument is out of range.
    """
    if download:
        _download("mnist", checks.path("data_dir", data_dir))
    return mnist_format(data_dir, split, **settings)


def fashion_mnist(
    data_dir: PathLike, split: str = "train", *, download: bool = False, **settings: Any
) -> tf.data.Dataset:
    """Returns batches of the pieces of clothing of Fashion-MNIST.

    The arguments, the result and the errors are those of `mnist`.
    """
    if download:
        _download("fashion_mnist", checks.path("data_dir", data_dir))
    return mnist_format(data_dir, split, **settings)


def _download(data_set: str, data_dir: str) -> None:
    """Downloads a data set with tf_keras and writes the missing ones of its four files."""
    names = [kind.format(prefix) for prefix in _PREFIXES.values() for kind in (_IMAGES, _LABELS)]
    missing = [_find(data_dir, name) is None for name in names]
    if not any(missing):
        return
    import tf_keras  # Only downloads need it.

    (train_images, train_labels), (test_images, test_labels) = getattr(
        tf_keras.datasets, data_set
    ).load_data()
    arrays = [train_images, train_labels, test_images, test_labels]
    tf.io.gfile.makedirs(data_dir)
    for name, array in itertools.compress(zip(names, arrays, strict=True), missing):
        write_idx(os.path.join(data_dir, f"{name}.gz"), array)
