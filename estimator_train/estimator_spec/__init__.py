"""What a model_fn returns: EstimatorSpec, the modes, and the outputs of an export."""
