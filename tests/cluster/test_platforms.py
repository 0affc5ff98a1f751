"""Clusters by the variables of whoever started the processes, and their mistakes.

These tests cover `cluster/slurm.py`, `cluster/tf_config.py` and `cluster/variables.py`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from wrong_tf_configs import ADDRESS_MISTAKES, MISTAKES

import estimator_train as est
from estimator_train.cli.main import main
from estimator_train.cluster import (
    Cluster,
    check_addresses,
    cluster_from_tf_config,
    detect,
    to_tf_config,
)
from estimator_train.estimator.construction import resolve_cluster

# As Slurm 22.05.8 sets them for the third of four tasks that srun started.
SLURM = {
    "SLURM_JOB_NAME": "train",
    "SLURM_JOB_ID": "7001234",
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "2",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_STEP_NODELIST": "gpu[09-10],big",
    "SLURM_STEP_TASKS_PER_NODE": "1(x2),2",
}
# As it sets them for a batch script.
SLURM_BATCH = {
    "SLURM_JOB_NAME": "train",
    "SLURM_JOB_ID": "7001234",
    "SLURM_PROCID": "0",
    "SLURM_NTASKS": "4",
    "SLURM_NODELIST": "gpu[09-10],big",
    "SLURM_TASKS_PER_NODE": "1(x2),2",
}
# As Open MPI 4.1.4 sets them.
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "3",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "3",
    "PMIX_NAMESPACE": "1466761217",
}
TORCHRUN = {"RANK": "1", "WORLD_SIZE": "3", "MASTER_ADDR": "here", "MASTER_PORT": "29500"}
SAGEMAKER = {"SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": "algo-2"}


def test_a_process_without_a_cluster_trains_alone() -> None:
    assert detect({}) == Cluster()
    assert detect({"TF_CONFIG": "{}"}) == Cluster()


def list_addresses(variables: dict[str, str]) -> list[str]:
    jobs = detect(variables).jobs
    return [address for job in ("chief", "worker") for address in jobs[job].values()]


def test_tasks_of_a_slurm_step_are_numbered_over_its_nodes() -> None:
    cluster = detect(SLURM)
    assert cluster.jobs == {
        "chief": {0: "gpu09:10544"},
        "worker": {0: "gpu10:10544", 1: "big:10544", 2: "big:10545"},
    }
    assert (cluster.task_type, cluster.task_id, cluster.is_chief) == ("worker", 1, False)
    assert cluster.platform == "Slurm"


def test_slurm_steps_at_the_same_time_have_no_port_in_common() -> None:
    one_node = {"SLURM_STEP_NODELIST": "a", "SLURM_STEP_NUM_TASKS": "70"}
    one_node["SLURM_STEP_TASKS_PER_NODE"] = "70"
    variables = {**SLURM, **one_node}
    jobs = [list_addresses({**variables, "SLURM_JOB_ID": str(number)}) for number in range(90, 95)]
    steps = [list_addresses({**variables, "SLURM_STEP_ID": str(number)}) for number in range(4)]
    for used in (jobs, steps):
        assert len({address for addresses in used for address in addresses}) == 70 * len(used)
    ports = {
        int(address.rpartition(":")[2]) for used in (jobs, steps) for a in used for address in a
    }
    assert 10_000 <= min(ports) < max(ports) < 32_768


def test_ports_that_srun_reserves_are_used() -> None:
    reserved = {**SLURM, "SLURM_STEP_RESV_PORTS": "13005-13006"}
    assert list_addresses(reserved) == ["gpu09:13005", "gpu10:13005", "big:13005", "big:13006"]
    with pytest.raises(ValueError, match="reserves 1 ports for 2 tasks .*srun --resv-ports=2"):
        detect({**SLURM, "SLURM_STEP_RESV_PORTS": "13005"})


def test_cyclic_ranks_take_turns_on_the_nodes_of_a_slurm_step() -> None:
    cyclic = {**SLURM, "SLURM_DISTRIBUTION": "cyclic:block", "SLURMD_NODENAME": "big"}
    addresses = ["gpu09:10544", "gpu10:10544", "big:10544", "big:10545"]
    assert list_addresses(cyclic) == addresses
    two = {**cyclic, "SLURM_STEP_NODELIST": "a,big", "SLURM_STEP_TASKS_PER_NODE": "2"}
    assert list_addresses(
        {**two, "SLURM_STEP_TASKS_PER_NODE": "2(x2)", "SLURMD_NODENAME": "a"}
    ) == [
        "a:10544",
        "big:10544",
        "a:10545",
        "big:10545",
    ]


@pytest.mark.parametrize("distribution", ["plane=2", "arbitrary", None])
def test_an_order_of_ranks_that_is_not_known_is_an_error(distribution: str | None) -> None:
    variables = {**SLURM, "SLURMD_NODENAME": "gpu10"}
    if distribution:
        variables |= {"SLURM_DISTRIBUTION": distribution, "SLURMD_NODENAME": "big"}
    with pytest.raises(ValueError, match="srun --distribution=block or cyclic, or set TF_CONFIG"):
        detect(variables)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("rack[1-2]node[1-2]", ["rack1node1", "rack1node2", "rack2node1", "rack2node2"]),
        ("gpu[1-2]-ib,b3", ["gpu1-ib", "gpu2-ib", "b3"]),
        ("n[2,10,008-009]", ["n2", "n10", "n008", "n009"]),
        ("10.0.0.[7-8]", ["10.0.0.7", "10.0.0.8"]),
    ],
)
def test_node_lists_of_slurm_are_expanded(nodes: str, expected: list[str]) -> None:
    size = str(len(expected))
    step = {"SLURM_STEP_NODELIST": nodes, "SLURM_STEP_TASKS_PER_NODE": f"1(x{size})"}
    found = list_addresses({**SLURM, **step, "SLURM_STEP_NUM_TASKS": size, "SLURM_PROCID": "0"})
    assert [address.rpartition(":")[0] for address in found] == expected


def test_open_mpi_numbers_the_processes_of_one_machine() -> None:
    cluster = detect(OPEN_MPI)
    (chief,) = cluster.jobs["chief"].values()
    host, _, port = chief.partition(":")
    assert host == "localhost"
    assert cluster.jobs["worker"] == {
        0: f"localhost:{int(port) + 1}",
        1: f"localhost:{int(port) + 2}",
    }
    assert (cluster.task_type, cluster.task_id, cluster.platform) == ("worker", 0, "Open MPI")
    assert detect({**OPEN_MPI, "OMPI_COMM_WORLD_SIZE": "1"}) == Cluster()


def test_the_innermost_of_several_platforms_wins() -> None:
    elastic = {**TORCHRUN, "TORCHELASTIC_RUN_ID": "none"}
    assert detect({**SLURM_BATCH, **OPEN_MPI}).platform == "Open MPI"
    assert detect({**SLURM, **elastic}).platform == "torchrun"
    # Scripts for PyTorch set these from Slurm's variables.
    assert detect({**SLURM, **TORCHRUN}).platform == "Slurm"
    assert detect({**SAGEMAKER, **TORCHRUN}).platform == "SageMaker"


def test_a_line_names_the_platform_that_wins_and_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in {**SLURM, **OPEN_MPI, "ESTIMATOR_TRAIN_PS": "1"}.items():
        monkeypatch.setenv(name, value)
    with caplog.at_level("INFO", "tensorflow"):
        resolve_cluster(est.RunConfig())
    (text,) = [line for line in caplog.messages if line.startswith("Cluster of")]
    assert text.startswith(
        "Cluster of Open MPI, although variables of Slurm are set too: this is worker:0 at local"
    )
    config = {"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    assert detect().unused_platforms == ("Open MPI", "Slurm")


def test_a_line_names_tf_config_if_it_has_a_task_and_no_cluster(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in {**SLURM, "ESTIMATOR_TRAIN_PS": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TF_CONFIG", json.dumps({"task": {"type": "worker", "index": 0}}))
    with caplog.at_level("INFO", "tensorflow"):
        resolve_cluster(est.RunConfig())
    text = "Cluster of TF_CONFIG, although variables of Slurm are set too: this is worker:0 at"
    assert [line for line in caplog.messages if line.startswith(text)]


def test_a_batch_script_of_slurm_without_srun_is_one_process() -> None:
    with pytest.warns(RuntimeWarning, match="job of 4 tasks was started without srun"):
        assert detect(SLURM_BATCH) == Cluster()


def test_variables_set_the_roles_of_numbered_tasks() -> None:
    roles = {"ESTIMATOR_TRAIN_PS": "1", "ESTIMATOR_TRAIN_EVALUATOR": "1"}
    seen = [detect({**SLURM, **roles, "SLURM_PROCID": str(rank)}).task_type for rank in range(4)]
    assert seen == ["chief", "worker", "ps", "evaluator"]


@pytest.mark.parametrize("name", ["bash", "interactive"])
def test_the_name_of_a_slurm_job_does_not_matter(name: str) -> None:
    # salloc names every job "interactive", and `srun bash train.sh` is named "bash".
    assert detect({**SLURM, "SLURM_JOB_NAME": name}) == detect(SLURM)
    assert detect({**SLURM, "SLURM_STEP_NUM_TASKS": "1"}) == Cluster()


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
        ({**SLURM, "SLURM_PROCID": "9"}, "SLURM_PROCID=9, but ranks go from 0 to 3"),
        ({**SLURM, "SLURM_PROCID": "x"}, "SLURM_PROCID must be a whole number, given: x"),
        ({**SLURM, "SLURM_JOB_ID": ""}, "SLURM_JOB_ID is not set"),
        ({**SLURM, "SLURM_STEP_NODELIST": "a[1-"}, r"like a\[1-2,7\],b3, given: a\[1-"),
        ({**SLURM, "SLURM_STEP_NODELIST": "a[3-1]"}, r"a\[3-1\] names no nodes for the 4 tasks"),
        ({**SLURM, "SLURM_STEP_NODELIST": f"a[1-{10**12}]"}, "names more nodes for the 4 tasks"),
        ({**SLURM, "SLURM_STEP_TASKS_PER_NODE": "1(x3)"}, r"1\(x3\) does not count the 4 tasks"),
        ({**SLURM, "SLURM_STEP_TASKS_PER_NODE": f"1(x{10**12})"}, "does not count the 4 tasks"),
        ({**SLURM, "SLURM_STEP_RESV_PORTS": "x"}, "like 12000-12003, given: x"),
        ({**SLURM, "SLURM_STEP_RESV_PORTS": f"1-{10**12}"}, "the last port is 65535"),
        ({**SLURM, "SLURM_STEP_RESV_PORTS": "9-8"}, "9-8 reserves 0 ports for 2 tasks"),
        ({**OPEN_MPI, "OMPI_COMM_WORLD_RANK": "3"}, "WORLD_RANK=3, but ranks go from 0 to 2"),
        ({**OPEN_MPI, "OMPI_COMM_WORLD_LOCAL_SIZE": "1"}, r"\(1 of 3 ranks run here\)"),
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
