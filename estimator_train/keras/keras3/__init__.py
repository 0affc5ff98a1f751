"""Estimators from Keras 3 models: the model's own `train_step` in the Estimator's graph.

`family.py` has the functions that both families have, and reads and writes checkpoints of weights
and optimizers; `steps.py` builds the steps, and with them the variables that are saved.
"""
