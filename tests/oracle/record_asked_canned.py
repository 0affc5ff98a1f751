"""Asks the original about canned estimators, into tests/golden/canned_asked.json.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_asked_canned.py`.
"""

from __future__ import annotations

import ask_canned
import goldens
import tensorflow as tf
from outcomes import outcomes

if __name__ == "__main__":
    asked = ask_canned.questions(tf.estimator, tf.compat.v1.estimator, tf.keras.optimizers.legacy)
    goldens.write("canned_asked", outcomes(asked))
