"""Runs codebases of 2017 to 2023 on TensorFlow 2.16 to 2.21 without an edit.

The codebase, and installed libraries of that time, see the `tensorflow` that they were written for:

  codebase.py    which files belong to the codebase
  libraries.py   which installed libraries use names that TensorFlow has removed
  imports.py     redirects the imports of the codebase and of these libraries
  old_names/     the names of TensorFlow 1 and 2, and the objects that provide them today
  contrib.py     the names that `tf_contrib` had until 0.1
  generation.py  whether a codebase was written for TensorFlow 1 or 2
  preparation.py all changes to the process that the codebase needs
  runner.py      runs a script or module as `python` would
  reading/       reads source files without executing them
  report.py      the report of `estimator-train check`
  rewriting/     edited copies, for `estimator-train check --rewrite`
"""
