"""`tf.contrib.deprecated`: summaries of before TensorFlow 1, whose tags are as they are given."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_SUMMARIES = _v1.GraphKeys.SUMMARIES


def scalar_summary(tags: Any, values: Any, collections: Any = None, name: Any = None) -> tf.Tensor:
    """A summary of a number, or of one number for each tag."""
    made = tf.raw_ops.ScalarSummary(tags=tags, values=values, name=name or "ScalarSummary")
    return _collected(made, collections)


def histogram_summary(tag: Any, values: Any, collections: Any = None, name: Any = None) -> Any:
    """A summary of how values are spread."""
    made = tf.raw_ops.HistogramSummary(tag=tag, values=values, name=name or "HistogramSummary")
    return _collected(made, collections)


def image_summary(
    tag: Any, tensor: Any, max_images: int = 3, collections: Any = None, name: Any = None
) -> tf.Tensor:
    """A summary of pictures."""
    made = tf.raw_ops.ImageSummary(
        tag=tag, tensor=tensor, max_images=max_images, name=name or "ImageSummary"
    )
    return _collected(made, collections)


def audio_summary(
    tag: Any,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Any = None,
    name: Any = None,
) -> tf.Tensor:
    """A summary of sounds."""
    made = tf.raw_ops.AudioSummaryV2(
        tag=tag,
        tensor=tensor,
        sample_rate=tf.cast(sample_rate, tf.float32),
        max_outputs=max_outputs,
        name=name or "AudioSummaryV2",
    )
    return _collected(made, collections)


def merge_summary(inputs: Sequence[Any], collections: Any = None, name: Any = None) -> tf.Tensor:
    """Several summaries as one, which is in no collection by default."""
    with tf.name_scope(name or "MergeSummary"):
        made = tf.raw_ops.MergeSummary(inputs=list(inputs), name="MergeSummary")
    return _collected(made, collections or [])


def merge_all_summaries(key: str = _SUMMARIES) -> tf.Tensor | None:
    """All summaries of a collection as one; None where there are none."""
    found = _v1.get_collection(key)
    return merge_summary(found) if found else None


def _collected(summary: tf.Tensor, collections: Any) -> tf.Tensor:
    _v1.add_to_collections([_SUMMARIES] if collections is None else collections, summary)
    return summary
