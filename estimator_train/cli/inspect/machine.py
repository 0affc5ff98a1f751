"""What `estimator-train doctor` finds out about this machine, and what of it would stop a job."""

import functools
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import estimator_train
from estimator_train.compat import installed
from estimator_train.launcher import loopback, ports

_PACKAGES = ("tensorflow", "tf-keras", "keras", "numpy", "protobuf", "pandas", "matplotlib")
_VARIABLES = (
    "TF_CONFIG",
    "TF_USE_LEGACY_KERAS",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_XLA_FLAGS",
    "CUDA_VISIBLE_DEVICES",
    "LD_PRELOAD",
    "SLURM_JOB_ID",
)
_PORTS_TRIED = 8
# A checkpoint of a small model; less is a disk that is full.
_LEAST_DISK = 100_000_000


class Found(NamedTuple):
    """A fact for the report, and what is wrong with it, if anything is."""

    text: str
    problem: str | None = None


def look(model_dir: str | None) -> dict[str, Found]:
    """Looks at everything; no look ends another.

    Args:
      model_dir: Where a job would write; the working directory without.
    """
    looks: dict[str, Callable[[], Found]] = {
        "estimator-train": lambda: Found(estimator_train.__version__),
        "Python": lambda: Found(f"{platform.python_version()}, {sys.executable}"),
        "system": lambda: Found(f"{platform.platform()}, {platform.machine()}"),
        **{name: functools.partial(_version, name) for name in _PACKAGES},
        "CPUs": _cpus,
        "devices": _devices,
        "TensorFlow": _session,
        "loopback library": _loopback,
        "ports": _ports,
        "model_dir": lambda: _model_dir(model_dir or "."),
        "cluster": _cluster,
        "variables": lambda: _variables(os.environ),
    }
    found = {name: _without_ending(one) for name, one in looks.items()}
    problem = installed.problem()
    if problem:
        found["tensorflow"] = Found(found["tensorflow"].text, problem)
    return found


def _without_ending(look_at: Callable[[], Found]) -> Found:
    try:
        return look_at()
    except Exception as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        return Found("failed", text)


def _version(package: str) -> Found:
    return Found(installed.version(package) or "is not installed")


def _cpus() -> Found:
    from estimator_train.run_config.cpu_limit import threads_that_fit

    limit = threads_that_fit()
    return Found(
        f"{os.cpu_count()}" + (f", of which this process may use {limit}" if limit else "")
    )


def _devices() -> Found:
    import tensorflow as tf

    devices = tf.config.list_physical_devices()
    return Found(", ".join(one.name.removeprefix("/physical_device:") for one in devices))


def _session() -> Found:
    """Runs an operation as training does: in a session of a graph."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        total = session.run(tf.reduce_sum(tf.ones([10, 10])))
    if total != 100:
        return Found("no", f"TensorFlow computes wrongly here: 100 ones add up to {total:g}")
    return Found(f"runs in sessions; tf.keras is Keras {getattr(tf.keras, '__version__', '2')}")


def _loopback() -> Found:
    if loopback.variables([], {}):
        return Found("there: the servers of `launch` are reached from this machine alone")
    return Found("not there: use `launch --private_network`, or block its ports by a firewall")


def _ports() -> Found:
    ports.free_addresses(_PORTS_TRIED)
    return Found(f"free from {ports.FIRST} to {ports.LAST}")


def _model_dir(path: str) -> Found:
    if "://" in path:
        return Found(f"{path} is remote, and was not tried")
    place = Path(path).absolute()
    existing = next(parent for parent in (place, *place.parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        return Found(path, f"--model_dir={path} cannot be written: {error}")
    free = shutil.disk_usage(existing).free
    text = f"{path} can be written, {free / 1e9:.1f} GB free"
    if free < _LEAST_DISK:
        return Found(text, f"--model_dir={path} has {free / 1e6:.0f} MB left on its disk")
    return Found(text, _holder(place) if place.exists() else None)


def _holder(model_dir: Path) -> str | None:
    """Who trains there now, as an error that a job would end by."""
    from estimator_train import RunConfig
    from estimator_train.engine.checkpoints.model_dir_lock import sole_writer

    try:
        with sole_writer(RunConfig(model_dir=str(model_dir), allow_shared_model_dir=False)):
            return None
    except ValueError as error:
        return str(error)


def _cluster() -> Found:
    from estimator_train import RunConfig

    config = RunConfig()
    if not config.cluster_spec:
        return Found("none: one process trains by itself")
    return Found(f"{config.task_type} {config.task_id} of {config.cluster_spec.as_dict()}")


def _variables(environment: Mapping[str, str]) -> Found:
    values = [f"{name}={environment[name]}" for name in _VARIABLES if name in environment]
    return Found("  ".join(values) or "none that matter")
