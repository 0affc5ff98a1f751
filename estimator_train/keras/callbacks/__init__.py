"""Keras callbacks in the training of an Estimator, by a hook."""
