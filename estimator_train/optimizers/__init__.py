"""Keras optimizers, new and legacy, and optimizers of tf.compat.v1.train in graphs."""
