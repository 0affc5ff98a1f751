"""A Keras model built again inside the graph of a model_fn."""
