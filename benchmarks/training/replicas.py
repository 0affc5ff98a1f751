"""Training speed of one replica and of two: devices of a process, or processes with a core each.

Every process is pinned to its cores, so that two replicas have twice what one has.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.benchmark import OURS
from benchmarks.training.model import TrainedModel

REPLICAS = 2
_HIDDEN = 512
MARK = "steps a second:"


def _keras_layers(layers: Any) -> list[Any]:
    return [layers.Dense(_HIDDEN, "relu"), layers.Dense(_HIDDEN, "relu"), layers.Dense(10)]


def _logits(variable: Any, x: Any) -> Any:
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


def one_replica(api: str, quick: bool) -> float:
    """Examples a second on one core, without a strategy."""
    return MODEL.batch * sum(_steps(api, "alone", [{_cores()[0]}], quick))


def two_devices(api: str, quick: bool) -> float:
    """Examples a second of two virtual devices on two cores, under MirroredStrategy."""
    return MODEL.batch * REPLICAS * sum(_steps(api, "devices", [set(_cores())], quick))


def two_workers(api: str, quick: bool) -> float:
    """Examples a second of two processes with a core each, under MultiWorkerMirroredStrategy."""
    pinned = [{core} for core in _cores()]
    return MODEL.batch * sum(_steps(api, "workers", pinned, quick))


def cost_of_synchronisation(api: str, quick: bool) -> float:
    """What waiting for the other takes of a step, in %: two workers beside two that do not wait."""
    pinned = [{core} for core in _cores()]
    apart = sum(_steps(api, "alone", pinned, quick))
    return 100 * max(0.0, 1 - sum(_steps(api, "workers", pinned, quick)) / apart)


def linear_workers(steps_per_loop: int, quick: bool) -> float:
    """Steps a second of two processes with a core each, in loops of so many steps."""
    pinned = [{core} for core in _cores()]
    rates = _steps(OURS, f"linear:{steps_per_loop}", pinned, quick)
    return sum(rates) / len(rates)


def _cores() -> list[int]:
    """A core for each replica; the same one if there are no more."""
    cores = sorted(os.sched_getaffinity(0))
    return [cores[index % len(cores)] for index in range(REPLICAS)]


def _steps(api: str, kind: str, cores: Sequence[set[int]], quick: bool) -> list[float]:
    """Steps a second of processes that train at one time, each on one of these sets of cores."""
    command = [sys.executable, "-m", "benchmarks.training.replica", api, kind, *["quick"] * quick]
    addresses = _free_addresses(len(cores))
    with tempfile.TemporaryDirectory() as directory:
        running = []
        for index, own in enumerate(cores):
            alone = kind in ("alone", "devices")
            model_dir = os.path.join(directory, str(index)) if alone else directory
            environment = {**os.environ, "MODEL_DIR": model_dir}
            if not alone:
                task = {"type": "worker", "index": index}
                place = {"cluster": {"worker": addresses}, "task": task}
                environment["TF_CONFIG"] = json.dumps(place)
            running.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    preexec_fn=partial(os.sched_setaffinity, 0, own),
                )
            )
        return [_figure(process) for process in running]


def _figure(process: subprocess.Popen[str]) -> float:
    said, errors = process.communicate()
    lines = [line for line in said.splitlines() if line.startswith(MARK)]
    if process.returncode or not lines:
        raise RuntimeError(f"a replica failed:\n{errors[-2000:]}")
    return float(lines[-1].removeprefix(MARK))


def _free_addresses(count: int) -> list[str]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in held]
    for one in held:
        one.close()
    return addresses
