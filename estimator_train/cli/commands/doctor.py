"""`estimator-train doctor`: facts about this machine, and problems that keep jobs from running."""

import contextlib
import functools
import os
import platform
import shutil
import sys
import tempfile
import uuid
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from absl import flags as absl_flags

import estimator_train
from estimator_train import shim
from estimator_train.bootstrap import start_up
from estimator_train.cli.job.user_code import Group
from estimator_train.launcher import network

DESCRIPTION = """
Prints versions, devices, the CPU limit and relevant environment variables. Checks that TensorFlow
can compute, that --model_dir is writable and that ports for `launch` are free. Then prints one line
for each problem; the exit code is 1 if there is a problem. Paste the output into your bug report.
"""
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
_REMOVE_SHIM = "`estimator-train install-shim --remove`"
_NUM_PORTS = 8
_MIN_DISK_BYTES = 100_000_000  # Enough for a checkpoint of a small model.


def _define_model_dir(flag_values: absl_flags.FlagValues) -> None:
    Group(flag_values).string(
        "model_dir",
        None,
        "Directory that the job would write to. The default is the working directory.",
        short_name="md",
    )


FLAGS = (_define_model_dir,)


def run(flag_values: absl_flags.FlagValues) -> int:
    """Prints the report.

    Args:
      flag_values: The parsed flags.

    Returns:
      The exit code.
    """
    from estimator_train.cli import errors, results

    with contextlib.suppress(ImportError):  # The report names the missing package.
        errors.configure(flag_values.debug)
    findings = inspect_machine(flag_values.model_dir)
    print(results.format_table({name: finding.text for name, finding in findings.items()}))
    problems = [finding.problem for finding in findings.values() if finding.problem]
    for problem in problems:
        print(f"problem: {problem}")
    if not problems:
        print("No problems found.")
    return 1 if problems else 0


class Finding(NamedTuple):
    """A fact for the report, and a problem, or None if there is no problem."""

    text: str
    problem: str | None = None


def inspect_machine(model_dir: str | None) -> dict[str, Finding]:
    """Runs all checks, even if some of them fail.

    Args:
      model_dir: Directory that a job would write to; None means the working directory.
    """
    checks: dict[str, Callable[[], Finding]] = {
        "estimator-train": lambda: Finding(estimator_train.__version__),
        "Python": lambda: Finding(f"{platform.python_version()}, {sys.executable}"),
        "system": lambda: Finding(f"{platform.platform()}, {platform.machine()}"),
        **{name: functools.partial(_find_version, name) for name in _PACKAGES},
        "tensorflow-estimator": _find_original,
        "shim": _find_shim,
        "CPUs": _count_cpus,
        "devices": _list_devices,
        "TensorFlow": _run_session,
        "loopback library": _check_loopback,
        "ports": _check_ports,
        "model_dir": lambda: _check_model_dir(model_dir or "."),
        "cluster": _describe_cluster,
        "variables": _list_variables,
    }
    findings = {name: _run_check(check) for name, check in checks.items()}
    problem = start_up.find_version_problem()
    if problem:
        findings["tensorflow"] = Finding(findings["tensorflow"].text, problem)
    return findings


def _run_check(check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # The report shows every kind of failure.
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        return Finding("failed", text)


def _find_version(package: str) -> Finding:
    return Finding(start_up.find_version(package) or "is not installed")


def _find_original() -> Finding:
    """Names an installed tensorflow-estimator, which the modules of this package shadow."""
    found = next(iter(metadata.distributions(name="tensorflow-estimator", path=sys.path)), None)
    if found is None:
        return Finding("is not installed: `import tensorflow_estimator` imports this package")
    return Finding(
        f"{found.version} in {found.locate_file('')} is not used: TensorFlow 2.16 and later break "
        "it, and `import tensorflow_estimator` imports this package"
    )


def _find_shim() -> Finding:
    shims = shim.find_shims()
    text = ", ".join(f"{version} in {folder}" for folder, version in shims.items())
    if len(shims) > 1:
        return Finding(text, f"several shims are installed, run {_REMOVE_SHIM}: {text}")
    if any(version != estimator_train.__version__ for version in shims.values()):
        problem = f"the shim is of version {text}: run `estimator-train install-shim` again"
        return Finding(text, problem)
    return Finding(text or "is not installed (`estimator-train install-shim`)")


def _count_cpus() -> Finding:
    from estimator_train.run_config.setting_values import count_usable_threads

    limit = count_usable_threads()
    return Finding(f"{os.cpu_count()}" + (f", this process may use {limit}" if limit else ""))


def _list_devices() -> Finding:
    import tensorflow as tf

    devices = tf.config.list_physical_devices()
    names = [device.name.removeprefix("/physical_device:") for device in devices]
    return Finding(", ".join(names))


def _run_session() -> Finding:
    """Runs an operation in a session, as training does."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        total = session.run(tf.reduce_sum(tf.ones([10, 10])))
    if total != 100:
        return Finding("no", f"TensorFlow computes wrong results: 100 ones add up to {total:g}")
    return Finding(f"runs in sessions; tf.keras is Keras {getattr(tf.keras, '__version__', '2')}")


def _check_loopback() -> Finding:
    if network.make_loopback_variables([], {}):
        return Finding("available: only this machine can connect to the servers of `launch`")
    return Finding("not available: use `launch --private_network`, or block the ports of `launch`")


def _check_ports() -> Finding:
    network.find_free_addresses(_NUM_PORTS)
    return Finding(f"free from {network.FIRST} to {network.LAST}")


def _check_model_dir(path: str) -> Finding:
    if "://" in path:
        return _check_remote_model_dir(path)
    directory = Path(path).absolute()
    existing = next(parent for parent in (directory, *directory.parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        return Finding(path, f"--model_dir={path} cannot be written: {error}")
    free = shutil.disk_usage(existing).free
    text = f"{path} is writable, {free / 1e9:.1f} GB free"
    if free < _MIN_DISK_BYTES:
        return Finding(text, f"the disk of --model_dir={path} has only {free / 1e6:.0f} MB free")
    return Finding(text, _find_other_writer(directory) if directory.exists() else None)


def _check_remote_model_dir(path: str) -> Finding:
    import tensorflow as tf

    from estimator_train import remote

    probe = f"{path.rstrip('/')}/.doctor-{uuid.uuid4().hex[:8]}"
    try:
        remote.check_path(path, "--model_dir")
        with tf.io.gfile.GFile(probe, "w") as file:
            file.write("x")
        tf.io.gfile.remove(probe)
    except (ImportError, ValueError) as error:
        return Finding(path, str(error))
    except tf.errors.OpError as error:
        return Finding(path, f"--model_dir={path} cannot be written: {error.message}")
    return Finding(f"{path} is writable")


def _find_other_writer(model_dir: Path) -> str | None:
    """Returns the error of a job if another process trains in the directory; otherwise None."""
    from estimator_train import RunConfig
    from estimator_train.engine.checkpoints.model_dir import lock_model_dir

    try:
        with lock_model_dir(RunConfig(model_dir=str(model_dir), allow_shared_model_dir=False)):
            return None
    except ValueError as error:
        return str(error)


def _describe_cluster() -> Finding:
    from estimator_train import RunConfig

    config = RunConfig()
    if not config.cluster_spec:
        return Finding("none: this process trains alone")
    return Finding(f"{config.task_type} {config.task_id} of {config.cluster_spec.as_dict()}")


def _list_variables() -> Finding:
    values = [f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ]
    return Finding("  ".join(values) or "no relevant variables are set")
