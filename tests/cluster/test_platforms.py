"""Clusters by the variables of whoever started the processes, and their mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from wrong_tf_configs import ADDRESS_MISTAKES, MISTAKES

from estimator_train.cli.main import main
from estimator_train.cluster import (
    Cluster,
    check_addresses,
    cluster_from_tf_config,
    detect,
    to_tf_config,
)

SLURM = {
    "SLURM_JOB_NAME": "train",
    "SLURM_JOB_ID": "7001234",
    "SLURM_PROCID": "2",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_STEP_NODELIST": "gpu[09-10],big",
    "SLURM_STEP_TASKS_PER_NODE": "1(x2),2",
}
TORCHRUN = {"RANK": "1", "WORLD_SIZE": "3", "MASTER_ADDR": "here", "MASTER_PORT": "29500"}
SAGEMAKER = {"SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": "algo-2"}


def test_a_process_without_a_cluster_trains_alone() -> None:
    assert detect({}) == Cluster()
    assert detect({"TF_CONFIG": "{}"}) == Cluster()


def test_slurm_numbers_tasks_and_ports_by_the_job() -> None:
    cluster = detect(SLURM)
    assert cluster.jobs == {
        "chief": {0: "gpu09:16234"},
        "worker": {0: "gpu10:16234", 1: "big:16234", 2: "big:16235"},
    }
    assert (cluster.task_type, cluster.task_id, cluster.is_chief) == ("worker", 1, False)


def test_variables_set_the_roles_of_numbered_tasks() -> None:
    roles = {"ESTIMATOR_TRAIN_PS": "1", "ESTIMATOR_TRAIN_EVALUATOR": "1"}
    seen = [detect({**SLURM, **roles, "SLURM_PROCID": str(rank)}).task_type for rank in range(4)]
    assert seen == ["chief", "worker", "ps", "evaluator"]


@pytest.mark.parametrize("name", ["bash", "interactive"])
def test_an_interactive_shell_in_slurm_is_not_a_job(name: str) -> None:
    assert detect({**SLURM, "SLURM_JOB_NAME": name}) == Cluster()


def test_torchrun_and_sagemaker_are_read() -> None:
    cluster = detect(TORCHRUN)
    assert cluster.jobs["worker"] == {0: "here:29502", 1: "here:29503"}
    assert (cluster.task_type, cluster.task_id) == ("worker", 0)
    cluster = detect(SAGEMAKER)
    assert cluster.jobs == {"chief": {0: "algo-1:2222"}, "worker": {0: "algo-2:2222"}}
    assert cluster.task_type == "worker"


def test_tf_config_has_precedence_and_describes_every_cluster() -> None:
    text = to_tf_config(detect(TORCHRUN))
    assert detect({**SLURM, "TF_CONFIG": text}) == detect(TORCHRUN)


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({**SLURM, "SLURM_PROCID": "9"}, "has rank 9, but ranks go from 0 to 3"),
        ({**SLURM, "SLURM_PROCID": "x"}, "SLURM_PROCID must be a whole number, given: x"),
        ({**SLURM, "SLURM_JOB_ID": ""}, "SLURM_JOB_ID is not set"),
        ({**SLURM, "SLURM_STEP_NODELIST": "a,b"}, r"names 2 nodes \(a, b\) and counts tasks on 3"),
        ({**SLURM, "SLURM_STEP_TASKS_PER_NODE": "4(x"}, r"should look like 2\(x3\),1, given: 4\(x"),
        ({**SLURM, "ESTIMATOR_TRAIN_PS": "4"}, "4 processes are too few for a chief, 4 parameter"),
        ({**SAGEMAKER, "SM_CURRENT_HOST": "c"}, "SM_CURRENT_HOST=c is not one of SM_HOSTS"),
        ({"SM_HOSTS": "[a"}, "SM_HOSTS is not valid JSON"),
        ({"SM_HOSTS": "3"}, "SM_HOSTS must be a JSON list, given: 3"),
        ({**TORCHRUN, "LOCAL_WORLD_SIZE": "1"}, "does not provide the addresses .*--worker_hosts"),
    ],
)
def test_errors_name_the_wrong_variable(variables: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        detect(variables)


@pytest.mark.parametrize(("config", "text"), MISTAKES, ids=[text for _, text in MISTAKES])
def test_errors_name_the_mistake_in_tf_config(config: str, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        cluster_from_tf_config(config)


@pytest.mark.parametrize(("config", "text"), ADDRESS_MISTAKES)
def test_addresses_are_checked_before_a_server_starts(config: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        check_addresses(cluster_from_tf_config(config).jobs)


def test_tasks_that_train_may_share_an_address_if_variables_are_on_parameter_servers() -> None:
    check_addresses({"master": {0: "a:1"}, "worker": {0: "a:1", 1: "b:1"}, "ps": {0: "c:1"}})
    with pytest.raises(ValueError, match="chief 0 and worker 0 have the same address"):
        check_addresses({"chief": {0: "a:1"}, "worker": {0: "a:1"}})


@pytest.mark.parametrize(
    ("config", "text"),
    [*MISTAKES, *ADDRESS_MISTAKES],
    ids=[text for _, text in (*MISTAKES, *ADDRESS_MISTAKES)],
)
def test_a_mistake_in_tf_config_prints_one_line_and_exits_with_code_2(
    config: str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("TF_CONFIG", config)
    assert main(["train", "--preset=digits", f"--model_dir={tmp_path}"]) == 2
    said = capsys.readouterr().err
    assert re.search(text, said)
    assert said.count("\n") == 1


def test_worker_0_is_the_chief_of_synchronous_workers() -> None:
    config = {"cluster": {"worker": ["a:1", "a:2"]}, "task": {"type": "worker", "index": 0}}
    cluster = cluster_from_tf_config(json.dumps(config), needs_chief=False)
    assert (cluster.is_chief, cluster.num_workers, cluster.global_id) == (True, 2, 0)
