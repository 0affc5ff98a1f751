"""Estimators from Keras 3 models: the model's own `train_step` in the Estimator's graph."""
