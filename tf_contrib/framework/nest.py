"""`tf.contrib.framework.nest`: `tf.nest` under its older names."""

import tensorflow as tf

assert_same_structure = tf.nest.assert_same_structure
flatten = tf.nest.flatten
is_nested = tf.nest.is_nested
is_sequence = tf.nest.is_nested
is_sequence_or_composite = tf.nest.is_nested
map_structure = tf.nest.map_structure
pack_sequence_as = tf.nest.pack_sequence_as
