"""Models of tf_keras in graphs: rebuilt layer by layer, with their losses and metrics."""
