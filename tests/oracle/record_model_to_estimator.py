"""Record what small Keras models come to into tests/golden/model_to_estimator.json.

Run by hand with a Python that has TensorFlow 2.15: `python record_model_to_estimator.py`.
"""

import tempfile

import goldens
import tensorflow as tf
from jobs import original_apis
from model_to_estimator_jobs import CASES, OPTIMIZERS, observe_optimizer

if __name__ == "__main__":
    api = next(original_apis())
    golden = {}
    for name in OPTIMIZERS:
        tf.keras.backend.clear_session()
        with tempfile.TemporaryDirectory() as base:
            golden[f"optimizer {name}"] = observe_optimizer(name, api, base)
    for name, case in CASES.items():
        tf.keras.backend.clear_session()
        with tempfile.TemporaryDirectory() as base:
            golden[f"case {name}"] = case.observe(api, base)
    goldens.write("model_to_estimator", golden)
