"""What all tests share: how TensorFlow computes, and how Hypothesis draws its examples."""

import gc
import os
from pathlib import Path

import crashes
import forked
import pytest
import tiers
from hypothesis import settings

# Recorded figures are a CPU's, on machines with a GPU as well.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

# Its pass over every function takes a tenth of the time of tests of inputs, and it rounds as the
# processor suggests.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

# Chooses the cases of `tiers.of_commit`. xdist's workers inherit it, so that all collect the same.
os.environ.setdefault(tiers.SAMPLE, str(tiers.read_commit()))

# Rooms whose tests see which graph runs.
OPTIMIZED = {("engine", "compiled"), ("engine", "graph"), ("engine", "loops")}

# The same examples in every run.
settings.register_profile("same_in_every_run", derandomize=True, deadline=None)
settings.load_profile("same_in_every_run")


def pytest_configure(config):
    """Gives replicas two devices, before any test uses TensorFlow."""
    is_worker = hasattr(config, "workerinput")
    if not is_worker:  # xdist's workers inherit it; they do not know what the command line names.
        is_named = config.args_source is config.ArgsSource.ARGS or config.option.keyword
        os.environ[tiers.ROTATES] = "" if is_named else "1"
    if not is_worker and getattr(config.option, "numprocesses", None):
        # xdist's workers run the tests: this process needs no TensorFlow.
        os.environ[forked.ADDRESS] = forked.find_address()
        crashes.share_folder()
        config.pluginmanager.register(crashes.CrashReports())
        return
    if is_worker:
        config.pluginmanager.register(crashes.StacksOfWorker(config.workerinput["workerid"]))
    gc.disable()  # Imports and collection free nothing: a third of their time would be in vain.
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


@pytest.fixture(autouse=True, scope="module")
def _unoptimized_graphs(request):
    """Runs graphs as they are built (`unoptimized.py`).

    TensorFlow's optimizer works in most programs that tests start, and in the tests of `OPTIMIZED`.
    """
    if request.path.relative_to(Path(__file__).parent).parts[:2] in OPTIMIZED:
        yield
        return
    import tensorflow as tf
    import unoptimized

    unoptimized.install()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    yield
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})
    unoptimized.uninstall()


def pytest_collection_modifyitems(config, items):
    """Leaves most of the slowest tests of the first tier to the second one and to other commits."""
    left_out = set(tiers.rotate(items))
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish(session):
    """Excludes the imported modules from garbage collection: it would visit them in each test."""
    gc.collect()
    gc.freeze()
    gc.enable()
