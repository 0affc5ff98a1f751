"""Which Keras `tf.keras` is: Keras 2, where that can still be chosen."""

import os
import sys


def choose() -> None:
    """Makes `tf.keras` be Keras 2 (tf-keras), if TensorFlow is not imported yet.

    TensorFlow reads the variable when it is imported. Programs of tf.estimator mean Keras 2 by
    `tf.keras`, and `tf.compat.v1.layers` needs it; `import keras` is Keras 3 with it as without. A
    value that is set already stays.
    """
    if "tensorflow" not in sys.modules:
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
