"""Batches of the handwritten digits that this package contains, so no download is needed."""

from pathlib import Path
from typing import Any

import tensorflow as tf

from input_fns.pictures.idx import idx
from input_fns.pipeline import checks

_DATA = Path(__file__).parent.parent / "data"


def digits(split: str = "train", *, one_hot: bool = True, **settings: Any) -> tf.data.Dataset:
    """Returns batches of 8x8 pictures of handwritten digits; `data/README.md` describes them.

    Args:
      split: 'train' (1,437 pictures) or 'test' (360 pictures).
      one_hot: Whether labels are one-hot, for categorical cross-entropy.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of (pictures, labels): tf.float32 of shape (batch_size, 8, 8, 1)
      from 0.0 to 1.0, and tf.float32 of shape (batch_size, 10), or tf.int32 of shape
      (batch_size,) if not one-hot.

    Raises:
      ValueError: An argument is out of range.
    """
    checks.one_of("split", split, ("train", "test"))
    return idx(
        _DATA / f"digits-{split}-images-idx3-ubyte.gz",
        _DATA / f"digits-{split}-labels-idx1-ubyte.gz",
        max_value=16,
        num_classes=10 if one_hot else None,
        **settings,
    )
