"""Records what the original's EstimatorSpec answers into tests/golden/spec.json."""

import ask_spec
import tensorflow as tf
from outcomes import outcomes, record

if __name__ == "__main__":
    record("spec", outcomes(ask_spec.questions(tf.estimator, tf.keras)))
