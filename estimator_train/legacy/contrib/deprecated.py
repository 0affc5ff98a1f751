"""`tf.contrib.deprecated`: summaries by their names of before TensorFlow 1."""

import tensorflow as tf

_summary = tf.compat.v1.summary
audio_summary = _summary.audio
histogram_summary = _summary.histogram
image_summary = _summary.image
merge_all_summaries = _summary.merge_all
merge_summary = _summary.merge
scalar_summary = _summary.scalar
