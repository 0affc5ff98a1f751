"""Stand-ins of `tf.contrib`: one file a module, with what Estimator code uses of it.

What is built on public TensorFlow alone is ours; nothing of the original's code is in here.
"""
