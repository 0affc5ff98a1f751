"""Chooses Keras 2 as `tf.keras`."""

import os
import sys


def choose() -> None:
    """Makes `tf.keras` be Keras 2 (tf-keras), if TensorFlow is not imported yet.

    TensorFlow reads the variable when it is imported. Programs of tf.estimator use Keras 2, and
    `tf.compat.v1.layers` needs it. `import keras` still imports Keras 3. A value that the
    environment already sets is kept.
    """
    if "tensorflow" not in sys.modules:
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
