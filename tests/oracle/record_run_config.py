"""Records what the original's RunConfig answers into tests/golden/run_config.json."""

import ask_run_config
import tensorflow as tf
from outcomes import outcomes, record

if __name__ == "__main__":
    record("run_config", outcomes(ask_run_config.questions(tf.estimator.RunConfig)))
