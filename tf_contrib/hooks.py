"""Stand-in for `tf.contrib.hooks`."""

import tensorflow as tf

ProfilerHook = tf.compat.v1.train.ProfilerHook
