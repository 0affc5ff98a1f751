"""Stand-in for `tf.contrib.tensorboard`."""
