"""What all tests share: the devices that TensorFlow has, and how Hypothesis draws its examples."""

import datetime
import gc
import os

from hypothesis import settings

# Recorded figures are a CPU's, on machines with a GPU as well.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

# Chooses the cases of `tiers.of_today`. xdist's workers inherit it, so that all collect the same.
os.environ.setdefault("TESTS_DAY", str(datetime.date.today().toordinal()))

# The same examples in every run.
settings.register_profile("same_in_every_run", derandomize=True, deadline=None)
settings.load_profile("same_in_every_run")


def pytest_configure(config):
    """Gives replicas two devices, before any test uses TensorFlow."""
    is_worker = hasattr(config, "workerinput")
    if not is_worker and getattr(config.option, "numprocesses", None):
        return  # xdist's workers run the tests: this process needs no TensorFlow.
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


def pytest_collection_finish(session):
    """Excludes the imported modules from garbage collection: it would visit them in each test."""
    gc.collect()
    gc.freeze()
