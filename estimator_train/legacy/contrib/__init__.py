"""Stand-ins for the modules of `tf.contrib` that Estimator code uses, one file for each module.

They are written on public TensorFlow and contain no code of tf.contrib.
"""
