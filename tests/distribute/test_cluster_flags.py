"""Strategies and clusters from flags."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
import tensorflow as tf
from absl import flags as absl_flags

import flags

CLUSTER = {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1"]}
CHIEF = {"type": "chief", "index": 0}
SLURM = {
    "SLURM_JOB_ID": "7001234",
    "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_STEP_NODELIST": "a,b",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2)",
}
SAGEMAKER = {"SM_HOSTS": '["a", "b"]', "SM_CURRENT_HOST": "b"}
TORCHRUN = {"RANK": "1", "WORLD_SIZE": "8", "MASTER_ADDR": "a", "MASTER_PORT": "29500"}


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", "{}")


def parse(*arguments: str) -> Any:
    values = absl_flags.FlagValues()
    flags.define_base_flags(values)
    flags.define_distribution_flags(values)
    values(["program", "--num_gpus=0", *arguments])
    return values


def strategy_of(*arguments: str) -> Any:
    return flags.make_strategy(parse(*arguments))


def test_worker_hosts_become_a_tf_config() -> None:
    values = parse(
        "--worker_hosts=a:1,b:2",
        "--task_index=1",
        "--batch_size=32",
        "--distribution_strategy=multi_worker_mirrored",
    )
    assert flags.per_replica_batch_size(values) == 16
    assert json.loads(os.environ["TF_CONFIG"]) == {
        "cluster": {"worker": ["a:1", "b:2"]},
        "task": {"type": "worker", "index": 1},
    }


def test_parameter_server_jobs_use_no_strategy_and_complete_batches() -> None:
    name = "--distribution_strategy=parameter_server"
    with pytest.raises(ValueError, match="needs tasks of the job `ps` in TF_CONFIG"):
        strategy_of(name)
    os.environ["TF_CONFIG"] = json.dumps({"cluster": CLUSTER, "task": CHIEF})
    assert strategy_of(name) is None
    assert flags.per_replica_batch_size(parse(name, "--batch_size=32")) == 32


def test_an_evaluator_needs_no_strategy() -> None:
    evaluator = {"type": "evaluator", "index": 0}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": CLUSTER, "task": evaluator})
    assert strategy_of("--distribution_strategy=multi_worker_mirrored") is None


@pytest.mark.parametrize(
    ("variables", "batch"),
    [
        ({"TF_CONFIG": json.dumps({"cluster": CLUSTER, "task": CHIEF})}, 16),
        (SLURM, 12),
        ({**SLURM, "ESTIMATOR_TRAIN_EVALUATOR": "1"}, 16),
        (SAGEMAKER, 24),
        (TORCHRUN, 6),
    ],
)
def test_the_batch_is_divided_among_the_workers_of_every_platform(
    variables: dict[str, str], batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    values = parse("--batch_size=48", "--distribution_strategy=multi_worker_mirrored")
    assert flags.per_replica_batch_size(values) == batch


def test_the_last_task_of_slurm_may_be_an_evaluator_without_a_strategy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {**SLURM, "ESTIMATOR_TRAIN_EVALUATOR": "1"}.items():
        monkeypatch.setenv(name, value)
    assert strategy_of("--distribution_strategy=multi_worker_mirrored") is None


def test_parameter_servers_of_slurm_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**SLURM, "ESTIMATOR_TRAIN_PS": "1"}.items():
        monkeypatch.setenv(name, value)
    assert strategy_of("--distribution_strategy=parameter_server") is None


def test_flags_select_central_storage_and_a_single_worker() -> None:
    central = strategy_of("--distribution_strategy=central_storage")
    assert isinstance(central, tf.distribute.experimental.CentralStorageStrategy)
    ring = strategy_of("--distribution_strategy=multi_worker_mirrored", "--all_reduce_alg=ring")
    assert isinstance(ring, tf.distribute.MultiWorkerMirroredStrategy)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--task_index=1"], "--task_index=1 needs --worker_hosts"),
        (["--worker_hosts=a:1,b:1"], "has 2 addresses: give --task_index from 0 to 1, not None"),
        (["--worker_hosts=a:1", "--task_index=1"], "from 0 to 0, not 1"),
        (["--all_reduce_alg=ring"], "is not for --distribution_strategy=mirrored, but for multi_"),
        (
            ["--distribution_strategy=off", "--all_reduce_alg=nccl"],
            "but for mirrored or multi_worker_mirrored",
        ),
    ],
)
def test_contradictory_flags_are_errors(arguments: list[str], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        strategy_of(*arguments)


def test_a_different_tf_config_is_an_error() -> None:
    os.environ["TF_CONFIG"] = json.dumps({"cluster": CLUSTER})
    with pytest.raises(ValueError, match="both given, and differ"):
        strategy_of("--worker_hosts=a:1", "--task_index=0")
    os.environ["TF_CONFIG"] = "{"
    with pytest.raises(ValueError, match="TF_CONFIG is not valid JSON"):
        strategy_of("--distribution_strategy=parameter_server")
