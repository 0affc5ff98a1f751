"""Variables of Keras models in checkpoints of either format."""
