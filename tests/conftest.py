"""What all tests share: the devices that TensorFlow has, and how Hypothesis draws its examples."""

from __future__ import annotations

import os
import sys
from typing import Any

from hypothesis import settings

# Recorded figures are a CPU's, on machines with a GPU as well.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

# The same examples in every run.
settings.register_profile("same_in_every_run", derandomize=True, deadline=None)
settings.load_profile("same_in_every_run")


def pytest_collection_finish(session: Any) -> None:
    """Makes two devices of the CPU, for replicas, before any test uses TensorFlow."""
    if "tensorflow" not in sys.modules:
        return
    import tensorflow as tf

    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
