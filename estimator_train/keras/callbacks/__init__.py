"""Keras callbacks as hooks of a training."""
