"""What all tests share: the devices that TensorFlow has, and how Hypothesis draws its examples."""

import os

from hypothesis import settings

# Recorded figures are a CPU's, on machines with a GPU as well.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf  # noqa: E402  after what it reads

# Two devices for replicas, whatever else is collected: set before any test uses TensorFlow.
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)

# The same examples in every run.
settings.register_profile("same_in_every_run", derandomize=True, deadline=None)
settings.load_profile("same_in_every_run")
