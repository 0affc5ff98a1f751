"""What a Keras model was compiled with: losses, metrics and weights of them."""
