"""Jobs of two tasks under a real Slurm, each preempted twice; by hand: COUNT runs of an array.

PYTHONPATH=tests/support:. python tests/cluster/slurm_preemptions.py 20
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tensorflow as tf
from real_slurm import Slurm, start_slurm

from estimator_train.engine.checkpoints import integrity
from estimator_train.launcher.manifests import ClusterJob, make_slurm_script

PROGRAM = str(Path(__file__).with_name("slurm_job.py"))
LAST_STEP = 300


def make_script(strategy: str, steps: int, runs: int = 1, **settings: int | bool) -> str:
    """Returns the script of `manifest --platform=slurm` for `slurm_job.py`, with so many runs."""
    command = [sys.executable, PROGRAM, strategy, str(steps), "model", str(runs)]
    return make_slurm_script(ClusterJob(command, time="0:10:00", grace_secs=20, **settings))


def list_steps(model_dir: Path) -> list[int]:
    """Returns the steps of all complete checkpoints, in order."""
    return sorted(int(path.stem[11:]) for path in model_dir.glob("model.ckpt-*.index"))


def read_saved_step(model_dir: Path) -> int:
    """Returns the step from which a training would continue; 0 without a checkpoint."""
    # Not by the files of checkpoints: the file `checkpoint` names them when all are written.
    path = tf.train.latest_checkpoint(str(model_dir))
    return int(path.rpartition("-")[2]) if path else 0


def wait_for_checkpoint(slurm: Slurm, job: str, model_dir: Path, step: int) -> None:
    """Waits until a checkpoint of at least `step` is complete."""
    end = time.monotonic() + 300
    while read_saved_step(model_dir) < step:
        state = slurm.show(job, "JobState")
        assert state in ("PENDING", "RUNNING"), f"{state}\n{read_log(model_dir.parent)}"
        assert time.monotonic() < end, read_log(model_dir.parent)
        time.sleep(0.2)


def read_log(folder: Path) -> str:
    """Returns what the jobs of a folder have printed."""
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.log")))


def check_saved_at_signal(model_dir: Path, step: int) -> None:
    """Checks that a task reports the last checkpoint as that of a signal."""
    log = read_log(model_dir.parent)
    assert f"saved {model_dir.name}/model.ckpt-{step}; exit code 143" in log, log


def preempt_twice(slurm: Slurm, job: str, model_dir: Path) -> None:
    """Sends SIGTERM to two runs of a job; checks that the third ends, with all checkpoints."""
    saved = {0}
    starts = [0]
    for restart in (1, 2):
        wait_for_checkpoint(slurm, job, model_dir, max(saved) + 50)
        slurm.run("scancel", "--signal=TERM", job)
        slurm.wait(job, "PENDING", restarts=restart)
        saved |= set(list_steps(model_dir))
        starts.append(max(saved))
        check_saved_at_signal(model_dir, max(saved))
        slurm.start_now(job)
    state = slurm.wait(job, "COMPLETED", "FAILED", restarts=2)
    log = read_log(model_dir.parent) + slurm.read_logs()
    assert state == "COMPLETED", log
    found = list_steps(model_dir)
    assert found[-1] == LAST_STEP, log
    assert saved <= set(found), log
    assert [int(line) for line in (model_dir / "starts.txt").read_text().split()] == starts, log
    assert integrity.latest_checkpoint(str(model_dir)).endswith(f"-{LAST_STEP}")


def run_jobs(slurm: Slurm, folder: Path, count: int) -> None:
    """Runs one job, or an array of several at once, through two preemptions each."""
    options = ["--output=%a-%j.log", f"--array=1-{count}"] if count > 1 else []
    job = slurm.submit(make_script("sync", LAST_STEP, runs=3, workers=1), folder, *options)
    jobs = {f"{job}_{number}": f"model{number}" for number in range(1, count + 1)}
    if count == 1:
        jobs = {job: "model"}
    with ThreadPoolExecutor(count) as threads:
        runs = [threads.submit(preempt_twice, slurm, one, folder / jobs[one]) for one in jobs]
    for run in runs:
        run.result()
    assert len(re.findall(r"^\d: ended$", read_log(folder), re.MULTILINE)) == 2 * count


def run_job(slurm: Slurm, folder: Path) -> None:
    """Runs one job through two preemptions."""
    run_jobs(slurm, folder, 1)


def run_array(slurm: Slurm, folder: Path) -> None:
    """Runs an array of three jobs at once through two preemptions each."""
    run_jobs(slurm, folder, 3)


def run_into_time_limit(slurm: Slurm, folder: Path) -> None:
    """Runs a job until Slurm sends the signal of `--signal`; checks that it is requeued."""
    job = slurm.submit(make_script("sync", 100_000, workers=1), folder, "--signal=TERM@110")
    wait_for_checkpoint(slurm, job, folder / "model", 50)
    hours, minutes, _ = slurm.show(job, "RunTime").split(":")
    # One to two minutes are left: Slurm, which looks every 30 s, sends the signal at once.
    limit = 60 * int(hours) + int(minutes) + 2
    slurm.run("scontrol", "update", f"jobid={job}", f"TimeLimit={limit}")
    slurm.wait(job, "PENDING", restarts=1)
    check_saved_at_signal(folder / "model", list_steps(folder / "model")[-1])
    slurm.run("scancel", job)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="slurm") as state, start_slurm(Path(state)) as slurm:
        for number in range(int(sys.argv[1])):
            with tempfile.TemporaryDirectory() as folder:
                start = time.monotonic()
                run_array(slurm, Path(folder))
                print(f"run {number + 1}: {time.monotonic() - start:.0f} s", flush=True)
