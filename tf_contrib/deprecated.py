"""Stand-in for `tf.contrib.deprecated`: the summaries of TensorFlow 0.x.

Unlike those of `tf.summary`, their tags are not changed.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Collections, TensorLike

_v1 = tf.compat.v1
_SUMMARIES = _v1.GraphKeys.SUMMARIES


def scalar_summary(
    tags: TensorLike,
    values: TensorLike,
    collections: Collections | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Adds a summary of one number, or of one number for each tag."""
    summary = tf.raw_ops.ScalarSummary(tags=tags, values=values, name=name or "ScalarSummary")
    return _add_to_collections(summary, collections)


def histogram_summary(
    tag: TensorLike,
    values: TensorLike,
    collections: Collections | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Adds a histogram of values."""
    summary = tf.raw_ops.HistogramSummary(tag=tag, values=values, name=name or "HistogramSummary")
    return _add_to_collections(summary, collections)


def image_summary(
    tag: TensorLike,
    tensor: TensorLike,
    max_images: int = 3,
    collections: Collections | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Adds a summary of images."""
    summary = tf.raw_ops.ImageSummary(
        tag=tag, tensor=tensor, max_images=max_images, name=name or "ImageSummary"
    )
    return _add_to_collections(summary, collections)


def audio_summary(
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Collections | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Adds a summary of audio clips."""
    summary = tf.raw_ops.AudioSummaryV2(
        tag=tag,
        tensor=tensor,
        sample_rate=tf.cast(sample_rate, tf.float32),
        max_outputs=max_outputs,
        name=name or "AudioSummaryV2",
    )
    return _add_to_collections(summary, collections)


def merge_summary(
    inputs: Sequence[Any], collections: Collections | None = None, name: str | None = None
) -> tf.Tensor:
    """Merges summaries into one, which is added to no collection by default."""
    with tf.name_scope(name or "MergeSummary"):
        summary = tf.raw_ops.MergeSummary(inputs=list(inputs), name="MergeSummary")
    return _add_to_collections(summary, collections or [])


def merge_all_summaries(key: str = _SUMMARIES) -> tf.Tensor | None:
    """Merges the summaries of a collection; returns None if the collection is empty."""
    summaries = _v1.get_collection(key)
    return merge_summary(summaries) if summaries else None


def _add_to_collections(summary: tf.Tensor, collections: Collections | None) -> tf.Tensor:
    _v1.add_to_collections([_SUMMARIES] if collections is None else collections, summary)
    return summary
