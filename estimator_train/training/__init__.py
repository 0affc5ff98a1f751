"""Complete training jobs: train_and_evaluate, exporters, early stopping."""
