"""Manifests under the rules of the controllers of Kubernetes, with real processes."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from jobset_controller import JobSet, finish, start_jobset
from slurm_preemptions import list_steps, read_saved_step
from tiers import of_commit

from estimator_train.launcher.manifests import ClusterJob, make_jobset, make_train_job
from estimator_train.launcher.network import find_free_addresses

FOLDER = Path(__file__).parent
LAST_STEP = 200
MAKERS = {"jobset": make_jobset, "trainjob": make_train_job}
# Names of the chief, a worker and the evaluator.
PODS = {
    "jobset": [("chief", 0), ("worker", 0), ("evaluator", 0)],
    "trainjob": [("node", 0), ("node", 1), ("node", 2)],
}


def make_manifest(platform: str, *program: str) -> str:
    job = ClusterJob(program, workers=1, evaluator=True, image="here:1", grace_secs=30)
    return MAKERS[platform](job)


def read_logs(folder: Path) -> str:
    files = sorted(folder.glob("*.log"))
    return "\n".join(f"--- {file.name}\n{file.read_text()[-3000:]}" for file in files)


def end_by_task(endings: dict[str, str]) -> list[str]:
    """Returns a program that runs the statement of its task."""
    read = "import json, os, sys, time; task = json.loads(os.environ['TF_CONFIG'])['task']['type']"
    return [sys.executable, "-c", f"{read}; exec({endings!r}[task])"]


@pytest.mark.parametrize("platform", ["jobset", "trainjob"])
def test_an_error_of_one_pod_ends_all(platform: str, tmp_path: Path) -> None:
    program = end_by_task(
        {"chief": "time.sleep(600)", "worker": "sys.exit(1)", "evaluator": "time.sleep(600)"}
    )
    with start_jobset(make_manifest(platform, *program), tmp_path) as jobset:
        assert finish(jobset, 300) == "Failed"
    assert not jobset.replaced


def test_a_set_is_complete_after_the_chief_and_the_evaluator(tmp_path: Path) -> None:
    # The evaluator fails once, and ends after the chief; the worker does not end.
    once = "sys.exit(0 if os.path.exists('once') else open('once', 'w').close() or 143)"
    program = end_by_task({"chief": "pass", "worker": "time.sleep(600)", "evaluator": once})
    with start_jobset(make_manifest("jobset", *program), tmp_path) as jobset:
        assert finish(jobset, 300) == "Completed"
    assert jobset.replaced == {"evaluator": 1}


def wait_for_checkpoint(jobset: JobSet, folder: Path) -> None:
    end = time.monotonic() + 300
    while read_saved_step(folder / "model") < 50:
        jobset.step()
        assert jobset.state == "Running", read_logs(folder)
        assert time.monotonic() < end, read_logs(folder)
        time.sleep(0.05)


def lose(rank: int) -> Callable[[JobSet, str], None]:
    return lambda jobset, platform: jobset.find_pod(*PODS[platform][rank]).process.kill()


def preempt_trainers(jobset: JobSet, platform: str) -> None:
    for pod in PODS[platform][:2]:
        jobset.evict(jobset.find_pod(*pod))


# Each takes half a minute; the commit chooses one.
@pytest.mark.long
@pytest.mark.parametrize(
    ("platform", "disturb"),
    of_commit(
        6,
        [
            ("jobset", lose(0)),
            ("jobset", preempt_trainers),
            ("trainjob", lose(1)),
            ("trainjob", preempt_trainers),
            ("jobset", lose(1)),
            ("trainjob", lose(0)),
        ],
    ),
)
def test_a_disturbed_job_continues_and_its_last_checkpoint_is_evaluated(
    platform: str, disturb: Callable[[JobSet, str], None], tmp_path: Path
) -> None:
    program = [sys.executable, str(FOLDER / "slurm_job.py"), "sync", str(LAST_STEP), "model", "2"]
    at_local_hosts = [sys.executable, str(FOLDER / "at_local_hosts.py")]
    hosts = [f"train-{job}-0-{index}.train:2222" for job, index in PODS[platform]]
    addresses = dict(zip(hosts, find_free_addresses(len(hosts)), strict=True))
    manifest = make_manifest(platform, *at_local_hosts, *program)
    with start_jobset(manifest, tmp_path, LOCAL_HOSTS=json.dumps(addresses)) as jobset:
        wait_for_checkpoint(jobset, tmp_path)
        disturb(jobset, platform)
        assert finish(jobset, 300) == "Completed", read_logs(tmp_path)
    # A lost task ends the other one that trains; the evaluator stays.
    trainers = {job: 1 for job, _ in PODS[platform][:2]} if platform == "jobset" else {"node": 2}
    assert jobset.replaced == trainers, read_logs(tmp_path)
    starts = [int(line) for line in (tmp_path / "model/starts.txt").read_text().split()]
    assert starts[0] == 0
    assert starts[1] >= 50
    if disturb is preempt_trainers:
        logs = "".join(path.read_text() for path in tmp_path.glob("*.log"))
        assert f"saved model/model.ckpt-{starts[1]}; exit code 143" in logs, read_logs(tmp_path)
    job, index = PODS[platform][2]
    log = (tmp_path / f"{job}-{index}.log").read_text()
    assert list_steps(tmp_path / "model")[-1] == LAST_STEP
    assert re.findall(r"^ended$", log, re.MULTILINE) == ["ended"], read_logs(tmp_path)
    history = (tmp_path / "model/history.jsonl").read_text()
    assert re.search(rf'"(global_)?step": {LAST_STEP}\b', history), history
