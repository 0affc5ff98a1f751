"""What runs an Estimator for a whole job: train_and_evaluate, exporters, early stopping."""
