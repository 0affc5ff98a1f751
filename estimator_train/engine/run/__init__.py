"""The calls of an Estimator: train, evaluate, predict."""
