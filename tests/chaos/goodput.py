"""Goodput of a job whose processes are killed: `python tests/chaos/goodput.py KIND [options]`.

KIND is `ours` (two synchronous workers under `estimator-train launch`) or `torch` (the same model
with torchrun in the environment of --torch_python). The job runs for --secs seconds, and one random
process of it is killed every --every seconds. Goodput is measured from outside: the useful steps of
the job over those of a job that is not killed, in the same time after its start. It prints JSON.
Figures of different kinds are comparable only if the machine has nothing else to do.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHAOS = Path(__file__).parent
RESTARTS = 1000


def command(options: argparse.Namespace, directory: Path, end: float) -> list[str]:
    """Returns the command of a job that trains until a point in time."""
    arguments = [str(directory), str(end)]
    if options.kind == "torch":
        torchrun = [options.torch_python, "-m", "torch.distributed.run", "--nproc_per_node=2"]
        torchrun += ["--master_port=29555", f"--max_restarts={RESTARTS}", "--monitor-interval=0.1"]
        return [*torchrun, str(CHAOS / "goodput_torch.py"), *arguments]
    launch = [sys.executable, "-m", "estimator_train", "launch", "--workers=1"]
    launch += [f"--max_restarts={RESTARTS}", *(["--nostandby"] if options.nostandby else [])]
    return [*launch, "--", sys.executable, str(CHAOS / "goodput_job.py"), *arguments]


def steps(directory: Path) -> list[tuple[float, int]]:
    """Returns the times and steps that the first worker wrote."""
    path = next(iter(sorted(directory.glob("*-0.steps"))), None)
    found = []
    for line in path.read_text().split("\n")[:-1] if path else ():
        moment, step = line.split()
        found.append((float(moment), int(step)))
    return found


def run(options: argparse.Namespace, every: float) -> dict[str, Any]:
    """Runs a job, kills its processes, and returns its useful steps and recovery times."""
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        directory, start = Path(name), time.time()
        end = start + options.secs
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
        with (directory / "log").open("wb") as log:
            job = subprocess.Popen(
                command(options, directory, end),
                env={**environment, "OMP_NUM_THREADS": "1"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        kills: list[float] = []
        try:
            while job.poll() is None and time.time() < end + 60:
                time.sleep(0.05)
                if every and time.time() > start + every * (len(kills) + 1) and time.time() < end:
                    victim = chance.choice(sorted(directory.glob("*.pid")) or [None])
                    kills.append(time.time())
                    if victim is not None:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(int(victim.read_text()), signal.SIGKILL)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        log_lines = (directory / "log").read_text(errors="replace").splitlines()
        measured = [line for line in log_lines if "Goodput of the job" in line]
        return {"code": job.returncode, "own": measured, **account(steps(directory), kills, start)}


def account(found: list[tuple[float, int]], kills: list[float], start: float) -> dict[str, Any]:
    """Returns the useful steps, and the time from each kill to the next step that was not lost."""
    recoveries = []
    for kill in kills:
        before = max((step for moment, step in found if moment <= kill), default=0)
        after = [(moment, step) for moment, step in found if moment > kill + 0.3]
        if after:
            # The worker may go on for a moment; a useful step is one after those that were made.
            recovered = [moment for moment, step in after if step > before]
            first = after[0][0]
            recoveries.append((first - kill, (recovered[0] if recovered else after[-1][0]) - kill))
    return {
        "useful_steps": found[-1][1] if found else 0,
        "first_step_secs": round(found[0][0] - start, 2) if found else None,
        "kills": len(kills),
        "median_secs_to_next_step": _median([first for first, _ in recoveries]),
        "median_secs_to_step_not_made_before": _median([useful for _, useful in recoveries]),
    }


def _median(values: list[float]) -> float | None:
    return round(statistics.median(values), 2) if values else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["ours", "torch"])
    parser.add_argument("--secs", type=float, default=150)
    parser.add_argument("--every", type=float, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nostandby", action="store_true")
    parser.add_argument("--torch_python", default="python")
    options = parser.parse_args()
    unbroken, killed = run(options, 0), run(options, options.every)
    ratio = killed["useful_steps"] / max(1, unbroken["useful_steps"])
    print(
        json.dumps({"goodput": round(ratio, 3), "unbroken": unbroken, "killed": killed}, indent=1)
    )


if __name__ == "__main__":
    main()
