"""Estimators of `tf.contrib.learn` that few programs use."""
