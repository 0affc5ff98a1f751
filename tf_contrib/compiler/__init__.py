"""Stand-in for `tf.contrib.compiler`."""
