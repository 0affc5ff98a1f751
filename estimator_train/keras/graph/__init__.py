"""Keras models that are rebuilt in the graph of a model_fn."""
