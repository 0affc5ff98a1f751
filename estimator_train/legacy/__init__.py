"""Runs codebases of 2017 to 2023 on today's TensorFlow, as they are.

The codebase, and libraries as old as it, see a `tensorflow` of their own time:

  codebase.py    which files belong to it, and which are installed libraries
  libraries.py   which of these use names that TensorFlow has lost
  imports.py     answers its imports, `tensorflow` and what else has lost names since
  view.py        a module as it sees it: names of its time in front of today's module
  trees/         which names those are, for TensorFlow 1, TensorFlow 2 and TensorFlow's insides
  contrib/       stand-ins of `tf.contrib`, one file a module
  generation.py  whether it was written for TensorFlow 1 or 2
  runner.py      `python SCRIPT`, with all this in place
  reading/, report.py, rewriting/   what `estimator-train check` reads, says and writes
"""
