"""Optimizers of tf_keras, new and legacy, and of tf.compat.v1.train, in graphs.

Those of Keras 3 are in `keras/keras3`.
"""
