"""Real runs of benchmarks, with all peers that need only this package."""

import json
import sys
from pathlib import Path

import forked
import pytest
from processes import run_process

from benchmarks import runner
from benchmarks.benchmark import ORIGINAL, OURS
from benchmarks.rows import BENCHMARKS, GPU_BENCHMARKS

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_quick_run_prints_a_table_of_all_peers_but_the_original(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--only", "linear"]
    done = run_process([*command, "--json", str(file)], cwd=ROOT)
    expected = [peer for peer in BENCHMARKS["linear"].peers if peer != "tf.estimator"]
    rows = json.loads(file.read_text())["rows"]
    assert [row["peer"] for row in rows] == expected
    assert all(figure > 0 for row in rows for figure in row["figures"])
    printed = done.stdout.partition("\n\n")[0].splitlines()[2:]
    assert [line.split(" | ")[1] for line in printed] == expected


@pytest.mark.long
def test_benchmarks_of_a_gpu_can_be_tried_without_one(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks", "--gpu", "--quick", "--only", "gpu_mlp"]
    run_process([*command, "--json", str(file)], cwd=ROOT)
    rows = json.loads(file.read_text())["rows"]
    assert [row["peer"] for row in rows] == list(GPU_BENCHMARKS["gpu_mlp"].peers)
    assert all(figure > 0 for row in rows for figure in row["figures"])


def test_an_unknown_benchmark_is_named() -> None:
    command = forked.python("-m", "benchmarks", "--only", "gpu_mlp")
    assert "unknown benchmarks ['gpu_mlp']" in run_process(command, exit_code=2, cwd=ROOT).stderr


@pytest.mark.long
def test_a_run_that_ends_early_keeps_the_figures_of_complete_jobs(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--only", "linear", "keras_linear"]
    command += ["--json", str(file), "--jax", str(tmp_path / "missing")]
    run_process(command, exit_code=1, cwd=ROOT)
    titles = {row["benchmark"] for row in json.loads(file.read_text())["rows"]}
    assert titles == {BENCHMARKS["linear"].title}


@pytest.mark.long
def test_a_keras_model_can_be_measured() -> None:
    command = forked.python("-m", "benchmarks.measure", "convnet", "estimator_train")
    done = run_process([*command, "--quick"], cwd=ROOT)
    assert float(done.stdout.split()[-1]) > 0


@pytest.mark.long
def test_rows_of_a_job_are_figures_of_one_measurement() -> None:
    (rows,) = runner.group_by_job(row for row in BENCHMARKS.values() if row.job == "tutorial")
    assert len(rows) == 5
    figures = runner.run(rows, 1, True, {ORIGINAL: None})
    assert all(list(seen) == [OURS] and seen[OURS][0] > 0 for seen in figures)
    assert len({seen[OURS][0] for seen in figures}) == 5


def test_rows_without_a_job_are_measured_alone() -> None:
    names = ["linear", "tutorial_size", "mlp", "tutorial_start"]
    found = [
        [row.name for row in job] for job in runner.group_by_job(BENCHMARKS[name] for name in names)
    ]
    assert found == [["linear"], ["tutorial_size", "tutorial_start"], ["mlp"]]


def test_a_failed_measurement_raises_an_error_with_its_reason() -> None:
    with pytest.raises(RuntimeError, match="invalid choice: 'unknown'"):
        runner._measure(sys.executable, "unknown", "estimator_train", True)


@pytest.mark.long
def test_two_synchronous_processes_are_measured() -> None:
    command = [sys.executable, "-m", "benchmarks.measure", "scaling_workers", "estimator_train"]
    done = run_process([*command, "--quick"], cwd=ROOT)
    assert float(done.stdout.split()[-1]) > 0
