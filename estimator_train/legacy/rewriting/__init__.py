"""Edited copies of old codebases that run under `python`: `estimator-train check --rewrite`.

  locations.py   where the object of an old name can be imported from today
  file.py        the edits of one file
  edits.py       edits a source text at the positions of its nodes in the syntax tree
  tree.py        writes the copies of a codebase

A copy uses the same objects as the codebase under `estimator-train run`, so it computes the same
figures. Names that `tensorflow.compat.v1` has are imported from there.

TensorFlow's `tf_upgrade_v2` is not used: it has no replacement for tf.estimator. Its mode SAFETY
breaks imports of `tensorflow.python`, and its other mode replaces objects by others, such as
regularizers of slim by those of Keras.
"""
