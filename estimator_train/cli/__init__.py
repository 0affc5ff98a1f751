"""The command line: `estimator-train COMMAND`.

`main.py` finds the command, parses its flags and only then loads TensorFlow. `commands/` has the
commands, `job/` builds an estimator and its inputs from the flags and examines them, and the other
files write results, errors and logs. Presets name functions in `job/models.py` and `job/inputs.py`,
as flags name functions of the user.
"""
