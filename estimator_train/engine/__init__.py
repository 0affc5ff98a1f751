"""The engine: builds the graphs of an estimator and runs sessions over them.

From the ground up: `loops` runs many steps in one call; `checkpoints` keeps variables and tells
which checkpoint is the latest; `together` is what a training asks of other processes; `job` is one
call of an estimator; `inputs` and `graph` turn an input_fn and a model_fn into the tensors of one
step; `compiled` is a step of XLA; `sessions` opens sessions; and `run` has one file for each of
train, evaluate and predict. `types.py` has the types of hooks and their phases, `storage.py` writes
files, and `tf_internals` has what TensorFlow does not publish.
Nothing here knows the `Estimator` class.
"""
