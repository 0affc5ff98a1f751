"""Tests of training on a GPU: `CUDA_VISIBLE_DEVICES=0 python -m pytest tests/gpu`.

Without that variable, `tests/conftest.py` hides the GPUs; without a GPU no test is collected, so
that the count of tests says which tests ran.
"""

import tensorflow as tf

collect_ignore_glob = [] if tf.config.list_physical_devices("GPU") else ["test_*.py"]
