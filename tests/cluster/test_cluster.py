"""The cluster that TF_CONFIG describes, and its mistakes.

These tests cover `cluster/tf_config.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from estimator_train.cluster import Cluster, cluster_from_tf_config, read_tf_config

JOBS = {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1"]}


def read(cluster: object, job: object = "worker", index: object = 0, **more: object) -> Cluster:
    task = {"type": job, "index": index}
    return cluster_from_tf_config(json.dumps({"cluster": cluster, "task": task, **more}))


def test_a_process_without_tf_config_is_the_chief() -> None:
    cluster = cluster_from_tf_config("")
    assert cluster == Cluster()
    assert (cluster.is_chief, cluster.num_workers, cluster.num_ps) == (True, 1, 0)
    assert (cluster.master, cluster.device_filters) == ("", ())


def test_a_worker_reads_its_task() -> None:
    cluster = read(JOBS, index=1)
    assert cluster.jobs == {"chief": {0: "c:1"}, "worker": {0: "w:1", 1: "w:2"}, "ps": {0: "p:1"}}
    assert (cluster.task_type, cluster.task_id, cluster.is_chief) == ("worker", 1, False)
    assert (cluster.num_workers, cluster.num_ps, cluster.global_id) == (3, 1, 2)
    assert cluster.master == "grpc://w:2"
    assert cluster.device_filters == ("/job:ps", "/job:worker/task:1")


def test_an_evaluator_is_not_part_of_the_training_cluster() -> None:
    cluster = read(JOBS, "evaluator", eval_session_master="grpc://e:1")
    assert (cluster.is_chief, cluster.num_workers, cluster.num_ps) == (False, 0, 0)
    assert cluster.global_id is None
    assert (cluster.master, cluster.evaluation_master) == ("", "grpc://e:1")


def test_the_environment_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"service": {"a": 1}, "model_dir": "m"}))
    cluster = cluster_from_tf_config()
    assert (cluster.service, cluster.model_dir) == ({"a": 1}, "m")
    monkeypatch.delenv("TF_CONFIG")
    assert read_tf_config() == {}


@pytest.mark.parametrize("text", ["{a", "[1]", "null", '"a"'])
def test_errors_quote_text_that_is_not_a_json_object(text: str) -> None:
    with pytest.raises(ValueError, match="TF_CONFIG") as error:
        cluster_from_tf_config(text)
    assert text in str(error.value)


@pytest.mark.parametrize("index", ["a", 1.5, [1]])
def test_errors_name_an_invalid_index(index: object) -> None:
    with pytest.raises(ValueError, match="task index in TF_CONFIG must be an integer"):
        read(JOBS, index=index)


@pytest.mark.parametrize(
    ("cluster", "named"),
    [
        ([1], r"given: \[1\]"),
        ({"chief": "c:1"}, "The tasks for job 'chief' must be a list .* c:1"),
        ({"chief": [7]}, "Task address 7 must be"),
    ],
)
def test_errors_name_a_cluster_of_wrong_types(cluster: object, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        read(cluster)


def test_errors_name_a_task_of_a_wrong_type() -> None:
    with pytest.raises(TypeError, match=r'"task" in TF_CONFIG must be a dict, given: \[1\]'):
        cluster_from_tf_config('{"task": [1]}')


def test_missing_indices_are_not_tasks() -> None:
    sparse = {"chief": ["c:1"], "worker": {"0": "w:1", "3": "w:2"}}
    assert read(sparse, index=3).master == "grpc://w:2"
    with pytest.raises(ValueError, match="1 is not a valid task_id for task_type worker"):
        read(sparse, index=1)


def test_an_empty_chief_list_counts_as_no_chief() -> None:
    with pytest.raises(ValueError, match='it must have one "chief" node'):
        read({"chief": [], "worker": ["w:1"]})


def test_reading_tf_config_does_not_import_tensorflow() -> None:
    program = (
        "import sys\n"
        "from estimator_train import cluster\n"
        "assert cluster.cluster_from_tf_config('{}').is_chief\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
