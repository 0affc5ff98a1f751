"""The engine: builds the graphs of an estimator and runs sessions over them.

From the ground up: `context` is what the engine knows of an estimator; `checkpoints` keeps them and
tells which is the latest; `inputs` and `graph` turn an input_fn and a model_fn into the tensors of
one step; `loops` runs many steps in one call; `distributed` is training with other processes;
`sessions` opens sessions; and `run` has one file for each of train, evaluate and predict. Nothing
here knows the `Estimator` class.
"""
