"""The calls of an Estimator: train, evaluate, predict.

`train.py` collects the hooks of a training and sorts them by `HookPhase` (`engine/types.py`);
`standard_hooks.py` and `training_checkpoints.py` make those that every training has, `history.py`
writes `history.jsonl`, and `failures.py` explains errors.
"""
