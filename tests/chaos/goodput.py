"""Goodput of jobs whose processes are killed: `python tests/chaos/goodput.py KIND ... [options]`.

A KIND is `ours` (two synchronous workers under `estimator-train launch`), `nostandby` (the same
without a standby process) or `torch` (the same model with torchrun in the environment of
--torch_python). Each job runs for --secs seconds, once unbroken and once with a random process of
it killed every --every seconds (0: unbroken only). With several kinds and --rounds they alternate,
so that a busy machine slows all of them.

Goodput is measured from outside: the useful steps a second, from the first step to the end, over
those of the unbroken job; `with_start` counts from the start of the job. An unbroken job of
--unbroken_secs gives its rate sooner. It prints JSON.
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


def command(kind: str, options: argparse.Namespace, directory: Path, end: float) -> list[str]:
    """Returns the command of a job that trains until a point in time."""
    arguments = [str(directory), str(end)]
    if kind == "torch":
        torchrun = [options.torch_python, "-m", "torch.distributed.run", "--nproc_per_node=2"]
        torchrun += ["--master_port=29555", f"--max_restarts={RESTARTS}", "--monitor-interval=0.1"]
        return [*torchrun, str(CHAOS / "goodput_torch.py"), *arguments]
    launch = [sys.executable, "-m", "estimator_train", "launch", "--workers=1"]
    launch += [f"--max_restarts={RESTARTS}", *(["--nostandby"] if kind == "nostandby" else [])]
    return [*launch, "--", sys.executable, str(CHAOS / "goodput_job.py"), *arguments]


def steps(directory: Path) -> list[tuple[float, int]]:
    """Returns the times and steps that the first worker wrote."""
    path = next(iter(sorted(directory.glob("*-0.steps"))), None)
    found = []
    for line in path.read_text().split("\n")[:-1] if path else ():
        moment, step = line.split()
        found.append((float(moment), int(step)))
    return found


def run(kind: str, options: argparse.Namespace, secs: float, every: float) -> dict[str, Any]:
    """Runs a job, kills its processes, and returns its useful steps and recovery times."""
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        directory, start = Path(name), time.time()
        end = start + secs
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
        with (directory / "log").open("wb") as log:
            job = subprocess.Popen(
                command(kind, options, directory, end),
                env={**environment, "OMP_NUM_THREADS": "1"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        kills: list[float] = []
        due = float("inf")  # The time of the next kill, known after the first step.
        try:
            while job.poll() is None and time.time() < end + 60:
                time.sleep(0.05)
                if every and not kills and due > end and steps(directory):
                    due = time.time() + every
                if due < time.time() < end:
                    due += every
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
        outcome = {"code": job.returncode, "load": os.getloadavg()[0], "own": measured}
        return {**outcome, **account(steps(directory), kills, start, end)}


def account(
    found: list[tuple[float, int]], kills: list[float], start: float, end: float
) -> dict[str, Any]:
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
    began = found[0] if found else (start, 0)
    half = [one for one in found if one[0] > (began[0] + end) / 2]
    return {
        "useful_steps": found[-1][1] if found else 0,
        "steps_per_sec_with_start": round(found[-1][1] / (end - start), 2) if found else 0,
        "useful_steps_per_sec": round((found[-1][1] - began[1]) / (end - began[0]), 2)
        if found
        else 0,
        "steps_per_sec_of_second_half": _rate(half[0], half[-1]) if len(half) > 1 else None,
        "first_step_secs": round(found[0][0] - start, 2) if found else None,
        "kills": len(kills),
        "median_secs_to_next_step": _median([first for first, _ in recoveries]),
        "median_secs_to_step_not_made_before": _median([useful for _, useful in recoveries]),
    }


def _rate(first: tuple[float, int], last: tuple[float, int]) -> float:
    return round((last[1] - first[1]) / (last[0] - first[0]), 2)


def _median(values: list[float]) -> float | None:
    return round(statistics.median(values), 2) if values else None


def run_pair(kind: str, options: argparse.Namespace) -> dict[str, Any]:
    """Runs a job of a kind unbroken and with kills, and returns its goodput and both outcomes."""
    unbroken = run(kind, options, options.unbroken_secs or options.secs, 0)
    if not options.every:
        return {"unbroken": unbroken}
    killed = run(kind, options, options.secs, options.every)

    def ratio(figure: str) -> float:
        return round(killed[figure] / max(1, unbroken[figure]), 3)

    goodput, with_start = ratio("useful_steps_per_sec"), ratio("steps_per_sec_with_start")
    return {"goodput": goodput, "with_start": with_start, "unbroken": unbroken, "killed": killed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="+", choices=["ours", "nostandby", "torch"])
    parser.add_argument("--secs", type=float, default=150)
    parser.add_argument("--unbroken_secs", type=float, help="of the unbroken job (default: --secs)")
    parser.add_argument("--every", type=float, default=15)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--torch_python", default="python")
    options = parser.parse_args()
    for _ in range(options.rounds):
        for kind in options.kinds:
            print(json.dumps({"kind": kind, **run_pair(kind, options)}), flush=True)
        options.seed += 1


if __name__ == "__main__":
    main()
