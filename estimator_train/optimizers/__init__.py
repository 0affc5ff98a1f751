"""Keras optimizers, of either generation, in graphs."""
