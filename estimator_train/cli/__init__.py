"""The commands of `estimator-train`, one file each.

`main.py` finds the command in `commands.py`, parses its flags and only then loads TensorFlow;
`job.py` makes an estimator and its input_fns of the flags; `errors.py` says what a mistake is told
as. `models.py` and `inputs.py` are what the presets train and on what, named by their flagfiles in
the same way as a user's own code.
"""
