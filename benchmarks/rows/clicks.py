"""A click model: steps, first step, restart, evaluation, memory, large tables and a cluster."""

import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import Any

from benchmarks.apis import APIS, Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.click_cluster import measure_cluster
from benchmarks.click_job import BATCH, ClickJob
from benchmarks.meters import make_step_clock, read_peak_memory

_IDS, _LARGE_IDS, _QUICK_IDS = 500_000, 3_000_000, 1000
_STEPS, _EVALUATED, _CLUSTER_WINDOW = 1000, 20, 100
_TABLES = {False: "tables of 0.7 GB", True: "tables of 4 GB"}


def _make_job(is_large: bool, quick: bool) -> ClickJob:
    return ClickJob(_QUICK_IDS if quick else _LARGE_IDS if is_large else _IDS)


def _measure(apis: Apis, quick: bool) -> dict[str, float]:
    """Trains, and evaluates twice; returns the figures of the rows of one process."""
    job, clock = _make_job(False, quick), make_step_clock()
    rows = job.rows()

    def evaluate(estimator: Any) -> float:
        start = time.perf_counter()
        estimator.evaluate(lambda: job.training_input(rows), steps=2 if quick else _EVALUATED)
        return time.perf_counter() - start

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = job.estimator(apis.estimator, model_dir)
        start = time.perf_counter()
        steps = 2 if quick else _STEPS
        estimator.train(lambda: job.training_input(rows), hooks=[clock], steps=steps)
        speed = (steps - 1) / (clock.last - clock.first)
        evaluate(estimator)
        second = evaluate(estimator)
    return {
        "clicks_speed": speed,
        "clicks_start": clock.first - start,
        "clicks_evaluate": second,
        "clicks_memory": read_peak_memory(),
    }


def _measure_restart(peer: str, is_large: bool, quick: bool) -> dict[str, float]:
    """Trains in another process, and then measures a restart from its checkpoint in this one."""
    name = "clicks_large" if is_large else "clicks"
    job = _make_job(is_large, quick)
    with tempfile.TemporaryDirectory() as model_dir:
        command = [sys.executable, "-m", "benchmarks.click_job", peer, str(job.ids), model_dir]
        subprocess.run(command, check=True, capture_output=True)
        clock, rows = make_step_clock(), job.rows()
        estimator = job.estimator(APIS[peer].estimator, model_dir)
        start = time.perf_counter()
        estimator.train(lambda: job.training_input(rows), hooks=[clock], steps=10)
    figures = {f"{name}_restart": clock.first - start}
    if is_large:
        figures["clicks_large_memory"] = read_peak_memory() - job.bytes / 2**20
    return figures


def _benchmark(name: str, description: str, unit: str, goal: float, job: str) -> Benchmark:
    is_large = job == "clicks_large"
    if job == "clicks":
        peers = compare_apis(_measure)
    else:
        peers = {peer: partial(_measure_restart, peer, is_large) for peer in (OURS, ORIGINAL)}
    return Benchmark(
        name,
        f"click model, {_TABLES[is_large]}, batch {BATCH}: {description}",
        unit,
        peers,
        less_is_better=unit != "steps/s",
        goals={ORIGINAL: goal},
        job=job,
    )


def _measure_cluster(peer: str, quick: bool) -> float:
    """Returns the steps per second of a chief and two workers on two parameter servers."""
    return measure_cluster(peer, _make_job(False, quick).ids, 5 if quick else _CLUSTER_WINDOW)


_RESTART = "from the call of train to the first step after a restart"
BENCHMARKS = (
    _benchmark("clicks_speed", "training", "steps/s", 5.0, "clicks"),
    _benchmark("clicks_start", "from the call of train to its first step", "s", 4.0, "clicks"),
    _benchmark("clicks_evaluate", "evaluate of 20 batches, second call", "s", 10.0, "clicks"),
    _benchmark("clicks_memory", "memory at its peak: train, evaluate", "MB", 1.2, "clicks"),
    _benchmark("clicks_restart", _RESTART, "s", 6.0, "clicks_restart"),
    _benchmark("clicks_large_restart", _RESTART, "s", 3.0, "clicks_large"),
    _benchmark(
        "clicks_large_memory", "memory at its peak, above the tables", "MB", 1.5, "clicks_large"
    ),
    Benchmark(
        "clicks_cluster",
        f"click model, {_TABLES[False]}, batch {BATCH}: chief, 2 workers, 2 parameter servers",
        "steps/s",
        {peer: partial(_measure_cluster, peer) for peer in (OURS, ORIGINAL)},
        goals={ORIGINAL: 2.0},
    ),
)
