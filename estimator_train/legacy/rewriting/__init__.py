"""Edited copies of old codebases, which run under Python itself: `estimator-train check --rewrite`.

  homes.py   where the object of an old name is to be had today
  file.py    the edits of one file
  edits.py   how a text is changed by its syntax tree
  tree.py    the copies of a codebase

Names keep the objects that the runner gives them, so figures stay the same: what TensorFlow still
has as `tensorflow.compat.v1` is taken from there, as TensorFlow's own `tf_upgrade_v2 --mode SAFETY`
does it. That tool is not run, since it knows no home for tf.estimator, breaks imports of
`tensorflow.python` in that mode, and in its other mode puts other objects (tf.keras.regularizers
for those of slim, layers of Keras 2 for those of 1) in the place of what the script had.
"""
