"""Private names of tf.estimator that programs and libraries import, over the public parts."""
