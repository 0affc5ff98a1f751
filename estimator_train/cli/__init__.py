"""The command line: `estimator-train COMMAND`.

`main.py` finds the command in `registry.py`, parses its flags and only then loads TensorFlow.
`commands/` has a module for each command, `job/` makes an estimator and its inputs of the flags,
`inspect/` looks at data and models, and `output/` writes results, errors and logs. The presets name
functions of `job/models.py` and `job/inputs.py`, as flags name a user's own.
"""
