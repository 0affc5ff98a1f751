"""`tensorflow.examples.tutorials.mnist`, which TensorFlow has removed."""
