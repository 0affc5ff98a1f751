"""From a model_fn to the graph of one step."""
