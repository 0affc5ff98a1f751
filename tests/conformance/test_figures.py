"""Training from fixed initial values comes to the figures of the original."""

from __future__ import annotations

from typing import Any

import figures
import keras_jobs
import numpy as np
import pytest
import tiers
import training_jobs
from alike import without_early_graph
from flavours import ours
from outcomes import recorded

JOBS = {"training": training_jobs.JOBS, "keras": keras_jobs.JOBS}
GOLDEN = {kind: recorded(kind) for kind in JOBS}
RUNS = {
    f"{kind} {job} {flavour}": (kind, job, flavour)
    for kind, jobs in JOBS.items()
    for job in jobs
    for flavour in jobs[job].flavours
}
# What only ours writes.
OWN_FILES = {"history.jsonl"}
# Convolutions sum in an order that depends on the number of cores.
RELATIVE = {"conv": 1e-4}


@pytest.fixture(scope="module", params=tiers.every(20, RUNS))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(seen, expected, relative tolerance) of one job in one flavour."""
    kind, job, flavour = RUNS[request.param]
    base = tmp_path_factory.mktemp(f"{kind}_{job}_{flavour}")
    seen = figures.observe(JOBS[kind][job], ours()[flavour], str(base))
    return seen, GOLDEN[kind][f"{job} {flavour}"], RELATIVE.get(job, 1e-5)


def test_losses_of_all_steps(run: Any) -> None:
    seen, expected, relative = run
    assert len(seen["losses"]) == figures.STEPS
    np.testing.assert_allclose(seen["losses"], expected["losses"], rtol=relative)


def test_global_step(run: Any) -> None:
    seen, expected, _ = run
    assert seen["global_step"] == expected["global_step"]


def test_names_dtypes_and_shapes_in_the_checkpoint(run: Any) -> None:
    seen, expected, _ = run
    assert seen["variables"] == expected["variables"]


def test_files_of_model_dir(run: Any) -> None:
    seen, expected, _ = run
    assert sorted({*seen["files"]} - OWN_FILES) == expected["files"]


def test_tags_and_steps_of_events(run: Any) -> None:
    seen, expected, _ = run
    assert seen["events"] == without_early_graph(expected["events"])


def test_evaluation(run: Any) -> None:
    seen, expected, relative = run
    for one, (key, dtype, value) in zip(seen["evaluation"], expected["evaluation"], strict=True):
        assert one == [key, dtype, pytest.approx(value, rel=10 * relative)]


def test_predictions(run: Any) -> None:
    seen, expected, relative = run
    assert len(seen["predictions"]) == len(expected["predictions"])
    for row, other in zip(seen["predictions"], expected["predictions"], strict=True):
        assert sorted(row) == sorted(other)
        for key, (dtype, value) in other.items():
            assert row[key][0] == dtype
            np.testing.assert_allclose(row[key][1], value, rtol=100 * relative, atol=relative)


def test_export(run: Any) -> None:
    seen, expected, _ = run
    assert seen["export"] == expected["export"]


def test_every_recorded_job_is_run() -> None:
    for kind, golden in GOLDEN.items():
        assert sorted(golden) == sorted(f"{job} {f}" for k, job, f in RUNS.values() if k == kind)
