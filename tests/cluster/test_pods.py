"""The clusters of pods, from manifests to processes that train.

These tests cover `cli/commands/launch.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from launched import finish_all, python
from processes import run_process

from estimator_train.cli.main import main
from estimator_train.cluster.platforms import PodLayout, read_cluster_of_pod
from estimator_train.launcher.network import find_free_addresses

ROOT = Path(__file__).parents[2]


def pods(text: str) -> list[tuple[str, dict[str, str], list[str]]]:
    """Returns the host name, the environment and the command of each pod of a manifest."""
    documents = {one["kind"]: one for one in yaml.safe_load_all(text)}
    if "JobSet" in documents:
        jobs, trainer = documents["JobSet"]["spec"]["replicatedJobs"], {}
    else:
        template = documents["TrainingRuntime"]["spec"]["template"]["spec"]
        jobs, trainer = template["replicatedJobs"], documents["TrainJob"]["spec"]["trainer"]
    found = []
    for job in jobs:
        assert job.get("replicas", 1) == 1
        spec = job["template"]["spec"]
        (container,) = spec["template"]["spec"]["containers"]
        count = trainer.get("numNodes") or spec["completions"]
        for index in range(count):
            host = f"train-{job['name']}-0-{index}.train"
            environment = {"JOB_COMPLETION_INDEX": str(index)}
            found.append((host, environment, trainer.get("command") or container["command"]))
    return found


def render(capsys: pytest.CaptureFixture[str], platform: str, *program: str) -> str:
    flags = [f"--platform={platform}", "--workers=1", "--ps=1", "--evaluator", "--image=here:1"]
    assert main(["manifest", *flags, "--", *program]) == 0
    return capsys.readouterr().out


def tf_configs(text: str) -> dict[str, dict[str, Any]]:
    """Returns the TF_CONFIG that the command of each pod's container sets, by host name."""
    found = {}
    for host, environment, command in pods(text):
        assert command[0] == "estimator-train"
        words = [sys.executable, "-m", "estimator_train", *command[1:]]
        variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        variables.pop("TF_CONFIG", None)
        run = run_process(words, env=variables)
        found[host] = json.loads(run.stdout)
    return found


PRINT = [sys.executable, "-c", "import os; print(os.environ['TF_CONFIG'])"]


@pytest.mark.parametrize("platform", ["jobset", "trainjob"])
def test_each_pod_runs_its_task_at_its_host(
    platform: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tf_configs(render(capsys, platform, *PRINT))
    tasks = {(c["task"]["type"], c["task"]["index"]): host for host, c in found.items()}
    assert list(tasks) == [("chief", 0), ("worker", 0), ("ps", 0), ("evaluator", 0)]
    for config in found.values():
        assert list(config["cluster"]) == ["chief", "worker", "ps"]
        for role, addresses in config["cluster"].items():
            assert addresses == [f"{tasks[role, 0]}:2222"]


@pytest.mark.long
@pytest.mark.parametrize("platform", ["jobset", "trainjob"])
def test_the_pods_of_a_manifest_train_together(
    platform: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    configs = tf_configs(render(capsys, platform, *PRINT))
    hosts = [host for host, config in configs.items() if config["task"]["type"] != "evaluator"]
    here = dict(zip(hosts, find_free_addresses(len(hosts)), strict=True))
    processes = {}
    for host, config in configs.items():
        text = json.dumps(config)
        for name, address in here.items():  # One machine has all hosts.
            text = text.replace(f"{name}:2222", address)
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
        processes[host] = subprocess.Popen(
            python("linear_job.py", tmp_path, 60),
            env={**variables, "TF_CONFIG": text},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
    done = finish_all(processes, 500)
    assert {host: one.code for host, one in done.items()} == dict.fromkeys(processes, 0), done


@pytest.mark.parametrize(("workers", "expected"), [(0, None), (1, "chief-0:2222")])
def test_the_index_of_a_pod_wins_over_tf_config(workers: int, expected: str | None) -> None:
    program = "import os; print(os.environ.get('TF_CONFIG'))"
    task = ["task", "--hosts={role}-{index}", "--role=chief", f"--workers={workers}"]
    done = run_process(
        [sys.executable, "-m", "estimator_train", *task, "--", sys.executable, "-c", program],
        PYTHONPATH=str(ROOT),
        JOB_COMPLETION_INDEX="0",
        TF_CONFIG='{"cluster": {"chief": ["a:1"], "worker": ["b:1"]}}',
    )
    config = json.loads(done.stdout.replace("None", "null"))
    assert (config and config["cluster"]["chief"]) == (expected and [expected])
    assert "TF_CONFIG is set, but the pod's index and --hosts replace it." in done.stderr


def layout(**changes: Any) -> PodLayout:
    return PodLayout(**{"hosts": "{role}-{index}", "workers": 2, "ps": 1, **changes})


def test_an_evaluator_of_synchronous_workers_is_listed() -> None:
    index = {"JOB_COMPLETION_INDEX": "0"}
    found = read_cluster_of_pod(layout(workers=1, ps=0, evaluator=True), "evaluator", index)
    assert found.jobs["evaluator"] == {0: "evaluator-0:2222"}
    assert (found.task_type, found.task_id) == ("evaluator", 0)


@pytest.mark.parametrize(
    ("role", "index", "error"),
    [
        ("worker", "2", "JOB_COMPLETION_INDEX=2, but the job has 2 worker pods: the manifest"),
        ("", "4", "JOB_COMPLETION_INDEX=4, but the job has 4 pods"),
        ("evaluator", "0", "the job has 0 evaluator pods"),
        ("", "x", "JOB_COMPLETION_INDEX must be a whole number"),
        ("", None, "JOB_COMPLETION_INDEX"),
    ],
)
def test_a_wrong_index_is_an_error(role: str, index: str | None, error: str) -> None:
    variables = {} if index is None else {"JOB_COMPLETION_INDEX": index}
    with pytest.raises(ValueError, match=error):
        read_cluster_of_pod(layout(), role, variables)


def test_hosts_need_an_index() -> None:
    with pytest.raises(ValueError, match="must contain {index}"):
        read_cluster_of_pod(layout(hosts="a"), "", {"JOB_COMPLETION_INDEX": "0"})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["task", "--hosts=a-{index}"], "a program is needed"),
        (["task", "--", "true"], "--hosts is needed"),
        (["task", "--hosts=a", "--", "true"], "must contain {index}"),
    ],
)
def test_errors_of_the_command_print_one_line(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert text in err
    assert err.count("\n") == 1
