"""MNIST, Fashion-MNIST, and whatever else comes in four IDX files of the same names."""

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
    data_dir: PathLike, split: str = "train", *, one_hot: bool = True, **batching: Any
) -> tf.data.Dataset:
    """Gives the pictures of a folder with MNIST's four IDX files in batches.

    Args:
      data_dir: Folder with `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`,
        `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`, each with or without `.gz`.
      split: 'train' or 'test'.
      one_hot: Whether labels are one-hot, as categorical cross-entropy wants them.
      **batching: The settings of `PipelineOptions`, or `options` with all of them.

    Returns:
      A `tf.data.Dataset` of (pictures, labels): tf.float32 of shape (batch_size, 28, 28, 1)
      from 0.0 to 1.0, and tf.float32 of shape (batch_size, 10), or tf.int32 of shape
      (batch_size,) if not one-hot.

    Raises:
      FileNotFoundError: The folder or a file does not exist.
      ValueError: A file is damaged or an argument is out of its range.
    """
    checks.one_of("split", split, _PREFIXES)
    data_dir = checks.path("data_dir", data_dir)
    prefix = _PREFIXES[split]
    return idx(
        _require(data_dir, _IMAGES.format(prefix)),
        _require(data_dir, _LABELS.format(prefix)),
        num_classes=10 if one_hot else None,
        **batching,
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
    """Gives the handwritten digits of MNIST in batches.

    Args:
      data_dir: Folder with the four files, as for `mnist_format`.
      split: 'train', 60,000 pictures, or 'test', 10,000.
      download: Whether tf_keras may fetch the files into `data_dir` if they are not there.
      **settings: `one_hot` and the settings of batches, as for `mnist_format`.

    Returns:
      A `tf.data.Dataset`, as `mnist_format`.

    Raises:
      FileNotFoundError: A file is not there and `download` is False.
      ValueError: A file is damaged or an argument is out of its range.
    """
    if download:
        _download("mnist", checks.path("data_dir", data_dir))
    return mnist_format(data_dir, split, **settings)


def fashion_mnist(
    data_dir: PathLike, split: str = "train", *, download: bool = False, **settings: Any
) -> tf.data.Dataset:
    """Gives the pieces of clothing of Fashion-MNIST in batches.

    Arguments, result and errors are those of `mnist`.
    """
    if download:
        _download("fashion_mnist", checks.path("data_dir", data_dir))
    return mnist_format(data_dir, split, **settings)


def _download(name: str, data_dir: str) -> None:
    """Writes those of the four files that are not there, from what tf_keras downloads."""
    wanted = [kind.format(prefix) for prefix in _PREFIXES.values() for kind in (_IMAGES, _LABELS)]
    missing = [_find(data_dir, file) is None for file in wanted]
    if not any(missing):
        return
    import tf_keras  # Imported only here: nothing else in the package needs it.

    (train_images, train_labels), (test_images, test_labels) = getattr(
        tf_keras.datasets, name
    ).load_data()
    arrays = [train_images, train_labels, test_images, test_labels]
    tf.io.gfile.makedirs(data_dir)
    for file, array in itertools.compress(zip(wanted, arrays, strict=True), missing):
        write_idx(os.path.join(data_dir, f"{file}.gz"), array)
