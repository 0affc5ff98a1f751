"""Jobs of `estimator-train manifest` under a real Slurm of two nodes, started on this machine."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from real_slurm import PACKAGES, Slurm, is_installed, start_slurm
from slurm_preemptions import (
    list_steps,
    make_script,
    read_log,
    run_array,
    run_into_time_limit,
    run_job,
    wait_for_checkpoint,
)
from tiers import of_commit

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not is_installed(), reason=f"needs Debian's packages {PACKAGES}"),
]
PRINT_TASK = (
    "import sys; from estimator_train.cluster import detect; found = detect(); "
    "print('task', found.task_type, found.task_id, "
    "found.jobs[found.task_type][found.task_id] if found.jobs else 'alone', flush=True)"
)


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    # Sockets have short paths.
    with tempfile.TemporaryDirectory(prefix="slurm") as folder, start_slurm(Path(folder)) as found:
        yield found


def find_tasks(text: str) -> list[tuple[str, str]]:
    """Returns (task, address) that `PRINT_TASK` printed, in order."""
    return sorted(re.findall(r"task (\w+ \d+) (\S+)", text))


@pytest.mark.parametrize("run", of_commit(3, [run_job, run_array, run_into_time_limit]))
def test_jobs_save_at_sigterm_are_requeued_and_continue(
    run: Callable[[Slurm, Path], None], slurm: Slurm, tmp_path: Path
) -> None:
    run(slurm, tmp_path)


def test_parameter_servers_and_an_evaluator_have_roles_by_rank(
    slurm: Slurm, tmp_path: Path
) -> None:
    job = slurm.submit(make_script("async", 120, workers=1, ps=1, evaluator=True), tmp_path)
    assert slurm.wait(job, "COMPLETED", "FAILED") == "COMPLETED", read_log(tmp_path)
    assert list_steps(tmp_path / "model")[-1] >= 120
    assert list((tmp_path / "model" / "eval").iterdir())


def test_a_cancelled_job_is_not_requeued(slurm: Slurm, tmp_path: Path) -> None:
    job = slurm.submit(make_script("sync", 100_000, workers=1), tmp_path)
    wait_for_checkpoint(slurm, job, tmp_path / "model", 50)
    slurm.run("scancel", job)
    assert slurm.wait(job, "CANCELLED", "PENDING") == "CANCELLED"
    assert slurm.show(job, "Restarts") == "0"


def test_tasks_of_an_array_and_steps_of_a_job_have_different_addresses(
    slurm: Slurm, tmp_path: Path
) -> None:
    command = f'srun {sys.executable} -c "{PRINT_TASK}"'
    script = f"#!/bin/bash\n#SBATCH -n2 --nodelist=127.0.0.1 --array=1-3\n{command}\n{command}\n"
    job = slurm.submit(script, tmp_path, "--wait", "--output=%a.log")
    assert job
    tasks = find_tasks(read_log(tmp_path))
    assert len({address for _, address in tasks}) == len(tasks) == 12


@pytest.mark.parametrize("options", [[], ["-m", "cyclic"], ["-m", "block"]])
def test_each_task_has_the_address_of_its_node(slurm: Slurm, options: list[str]) -> None:
    program = PRINT_TASK + "; import os; print('node', os.environ['SLURMD_NODENAME'])"
    command = ["srun", "--label", "-N2", "-n5", *options, sys.executable, "-c", program]
    text = slurm.run(*command)
    nodes = dict(re.findall(r"(\d): node (\S+)", text))
    addresses = dict(re.findall(r"(\d): task \w+ \d+ (\S+):", text))
    assert len(nodes) == 5
    assert addresses == nodes


def test_srun_in_an_interactive_allocation_starts_a_cluster(slurm: Slurm) -> None:
    text = slurm.run("salloc", "-n2", "srun", sys.executable, "-c", PRINT_TASK)
    assert [task for task, _ in find_tasks(text)] == ["chief 0", "worker 0"]


def test_components_of_a_heterogeneous_job_are_one_cluster(slurm: Slurm, tmp_path: Path) -> None:
    script = (
        "#!/bin/bash\n#SBATCH -n1 --nodelist=127.0.0.1\n#SBATCH hetjob\n"
        "#SBATCH -n2 --nodelist=127.0.0.2\n"
        f'srun --het-group=0,1 {sys.executable} -c "{PRINT_TASK}"\n'
    )
    slurm.submit(script, tmp_path, "--wait", "--output=het.log")
    hosts = [(task, address.partition(":")[0]) for task, address in find_tasks(read_log(tmp_path))]
    assert hosts == [("chief 0", "127.0.0.1"), ("worker 0", "127.0.0.2"), ("worker 1", "127.0.0.2")]


def test_a_batch_script_without_srun_is_one_process(slurm: Slurm, tmp_path: Path) -> None:
    script = f'#!/bin/bash\n#SBATCH -n3\n{sys.executable} -c "{PRINT_TASK}"\n'
    slurm.submit(script, tmp_path, "--wait", "--output=batch.log")
    log = read_log(tmp_path)
    assert [address for _, address in find_tasks(log)] == ["alone"]
    assert "started without srun" in log
