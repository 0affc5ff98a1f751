"""Stand-in for `tf.contrib.util`: tensors and protocol buffers."""

import tensorflow as tf

constant_value = tf.get_static_value
make_ndarray = tf.make_ndarray
make_tensor_proto = tf.make_tensor_proto
