"""The losses and metrics of a compiled Keras model."""
