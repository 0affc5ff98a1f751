"""Training speed of one replica and of two replicas, which are devices or processes.

Every process is pinned to its cores, so two replicas have twice as many cores as one.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from benchmarks.benchmark import OURS, TORCH_WORKERS
from benchmarks.training.model import TrainedModel
from estimator_train.launcher.network import find_free_addresses

REPLICAS = 2
_HIDDEN = 512
MARK = "steps a second:"


def _keras_layers(layers: ModuleType) -> list[Any]:
    return [layers.Dense(_HIDDEN, "relu"), layers.Dense(_HIDDEN, "relu"), layers.Dense(10)]


def _logits(variable: Callable[..., Any], x: Any) -> Any:
    import tensorflow as tf

    for name, width in (("one", _HIDDEN), ("two", _HIDDEN)):
        x = tf.nn.relu(x @ variable(f"{name}/kernel", (int(x.shape[1]), width)))
    return x @ variable("logits/kernel", (_HIDDEN, 10))


# 670,000 parameters: 2.7 MB of gradients in each step.
MODEL = TrainedModel(128, [784], 400, _keras_layers, optimizer="sgd", logits=_logits)

LINEAR = TrainedModel(
    32,
    [784],
    4_000,
    lambda layers: [layers.Dense(10)],
    optimizer="sgd",
    logits=lambda variable, x: x @ variable("kernel", (784, 10)) + variable("bias", (10,)),
)


def _mlp_layers(layers: ModuleType) -> list[Any]:
    return [layers.Dense(units, "relu") for units in _UNITS] + [layers.Dense(10)]


def _mlp_logits(variable: Callable[..., Any], x: Any) -> Any:
    import tensorflow as tf

    for name, units in zip(("one", "two", "three"), (*_UNITS, 10), strict=True):
        kernel = variable(f"{name}/kernel", (int(x.shape[1]), units))
        x = x @ kernel + variable(f"{name}/bias", (units,))
        x = x if name == "three" else tf.nn.relu(x)
    return x


def _convolution_layers(layers: ModuleType) -> list[Any]:
    convolutions = [
        layers.Conv2D(filters, 5, 2, "same", activation="relu", use_bias=False)
        for filters in _FILTERS
    ]
    return [*convolutions, layers.Flatten(), layers.Dense(10, use_bias=False)]


def _convolution_logits(variable: Callable[..., Any], x: Any) -> Any:
    import tensorflow as tf

    for name, filters in zip(("one", "two"), _FILTERS, strict=True):
        kernel = variable(f"{name}/kernel", (5, 5, int(x.shape[-1]), filters))
        x = tf.nn.relu(tf.nn.conv2d(x, kernel, 2, "SAME"))
    x = tf.reshape(x, [-1, 7 * 7 * _FILTERS[-1]])
    return x @ variable("three/kernel", (int(x.shape[1]), 10))


_UNITS, _FILTERS = (256, 256), (8, 16)
# Models of workers; `torch_replica.py` has the same.
WORKER_MODELS = {
    "linear": LINEAR,
    "mlp": TrainedModel(64, [784], 4_000, _mlp_layers, "adam", _mlp_logits),
    "convolutions": TrainedModel(
        16, [28, 28, 1], 4_000, _convolution_layers, "adam", _convolution_logits
    ),
}


def measure_one_replica(api: str, quick: bool) -> float:
    """Returns the examples per second on one core, without a strategy."""
    return MODEL.batch * sum(_measure_steps(api, "alone", [{_choose_cores()[0]}], quick))


def measure_two_devices(api: str, quick: bool) -> float:
    """Returns the examples per second of two virtual devices under MirroredStrategy."""
    return (
        MODEL.batch * REPLICAS * sum(_measure_steps(api, "devices", [set(_choose_cores())], quick))
    )


def measure_two_workers(api: str, quick: bool) -> float:
    """Returns the examples per second of two processes under MultiWorkerMirroredStrategy."""
    pinned = [{core} for core in _choose_cores()]
    return MODEL.batch * sum(_measure_steps(api, "workers", pinned, quick))


def measure_synchronisation(api: str, quick: bool) -> float:
    """Returns the share of a step, in %, in which two workers wait for each other.

    The reference is two independent processes at the same time.
    """
    pinned = [{core} for core in _choose_cores()]
    independent = sum(_measure_steps(api, "alone", pinned, quick))
    return 100 * max(0.0, 1 - sum(_measure_steps(api, "workers", pinned, quick)) / independent)


def measure_linear_workers(steps_per_loop: int, quick: bool) -> float:
    """Returns the steps per second of two processes with loops of `steps_per_loop` steps."""
    pinned = [{core} for core in _choose_cores()]
    rates = _measure_steps(OURS, f"linear:{steps_per_loop}", pinned, quick)
    return sum(rates) / len(rates)


def measure_workers(model: str, api: str, quick: bool) -> float:
    """Returns the steps per second of two processes that train one of `WORKER_MODELS`."""
    pinned = [{core} for core in _choose_cores()]
    return min(_measure_steps(api, model, pinned, quick))


def _choose_cores() -> list[int]:
    """Returns a core for each replica; replicas share cores if there are too few."""
    cores = sorted(os.sched_getaffinity(0))
    return [cores[index % len(cores)] for index in range(REPLICAS)]


def _measure_steps(api: str, kind: str, cores: Sequence[set[int]], quick: bool) -> list[float]:
    """Returns the steps per second of simultaneous processes, one for each set of cores."""
    module = "torch_replica" if api == TORCH_WORKERS else "replica"
    command = [sys.executable, "-m", f"benchmarks.training.{module}", api, kind]
    command += ["quick"] * quick
    addresses = find_free_addresses(len(cores))
    with tempfile.TemporaryDirectory() as directory:
        running = []
        for index, own_cores in enumerate(cores):
            is_alone = kind in ("alone", "devices")
            model_dir = os.path.join(directory, str(index)) if is_alone else directory
            environment = {**os.environ, "MODEL_DIR": model_dir}
            if not is_alone:
                task = {"type": "worker", "index": index}
                tf_config = {"cluster": {"worker": addresses}, "task": task}
                environment["TF_CONFIG"] = json.dumps(tf_config)
            running.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    preexec_fn=partial(os.sched_setaffinity, 0, own_cores),
                )
            )
        return [read_rate(process) for process in running]


def read_rate(process: subprocess.Popen[str]) -> float:
    """Returns the steps per second that a process prints at its end.

    Raises:
      RuntimeError: The process failed.
    """
    output, errors = process.communicate()
    lines = [line for line in output.splitlines() if line.startswith(MARK)]
    if process.returncode or not lines:
        raise RuntimeError(f"a replica failed:\n{errors[-2000:]}")
    return float(lines[-1].removeprefix(MARK))
