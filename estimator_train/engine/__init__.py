"""The engine: builds a job's graphs and runs sessions over them.

`job.py` says what is run, `inputs.py` and `model.py` turn an input_fn and a model_fn into tensors
(`replicas.py` under a `tf.distribute` strategy), and `train.py`, `evaluate.py`, `predict.py` and
`export.py` each run one kind of session. Nothing here knows the `Estimator` class.
"""
