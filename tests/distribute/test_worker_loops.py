"""Workers of a cluster run loops of steps, with the results of single steps.

These tests cover `together/synchronous.py` and `together/strategies.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf
from google.protobuf import text_format
from launched import launched, numbers_after, python

WORKERS = ("chief:0", "worker:0")


def outcomes(*arguments: object, servers: int = 0) -> dict[str, dict[str, list[float]]]:
    """Returns the output of a chief and of a worker."""
    cluster = ["--workers=1", f"--ps={servers}", "--max_restarts=0"]
    done = launched(cluster, python("loops_job.py", *arguments))
    assert done.code == 0, done.text[-3000:]
    words = ("step", "weights", "unseen")
    return {
        task: {word: numbers_after(f"{word} ", done.lines(task)) for word in words}
        for task in WORKERS
    }


def list_reductions_of_loop(model_dir: Path) -> list[str]:
    """Returns the types of the collectives in the body of the chief's loop."""
    graph = text_format.Parse((model_dir / "graph.pbtxt").read_text(), tf.compat.v1.GraphDef())
    (body,) = (f for f in graph.library.function if "while_body" in f.signature.name)
    return [node.op for node in body.node_def if node.op.startswith("Collective")]


@pytest.mark.long
def test_synchronous_workers_end_together_at_the_end_of_the_first_input(tmp_path: Path) -> None:
    single = outcomes(tmp_path / "single", 1, 0, 2)
    loops = outcomes(tmp_path / "loops", "auto", 0, 2)
    for task in WORKERS:
        assert single[task]["step"] == loops[task]["step"] == [40]
        assert single[task]["unseen"] == [0]
        assert loops[task]["unseen"][0] >= 30
        assert loops[task]["weights"] == pytest.approx(single["chief:0"]["weights"], rel=1e-6)
    assert loops["chief:0"]["unseen"] == loops["worker:0"]["unseen"]


def test_a_worker_that_stops_ends_the_training_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOP_AFTER", "30")
    loops = outcomes(tmp_path, 10, 100, 0)
    assert list_reductions_of_loop(tmp_path) == ["CollectiveReduceV2"]  # Gradients, loss and vote.
    for task in WORKERS:
        assert 31 <= loops[task]["step"][0] <= 32  # One to say so, maybe one that was agreed on.
        assert loops[task]["unseen"][0] >= 15


@pytest.mark.long
def test_asynchronous_workers_loop_if_steps_per_loop_is_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATEGY", "ps")
    loops = outcomes(tmp_path, 10, 150, 0, servers=1)
    assert loops["chief:0"]["step"] == loops["worker:0"]["step"] == [150]
    assert loops["chief:0"]["weights"] == pytest.approx([1.0] * 4, abs=0.02)
    # Who comes first may run most of the steps: of each ten nine are in a loop, but near a save.
    assert sum(loops[task]["unseen"][0] for task in WORKERS) >= 60


@pytest.mark.long
def test_asynchronous_workers_do_not_loop_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATEGY", "ps")
    single = outcomes(tmp_path, "auto", 60, 0, servers=1)
    assert single["chief:0"]["step"] == [60]
    assert single["chief:0"]["unseen"] == single["worker:0"]["unseen"] == [0]


@pytest.mark.long
def test_loops_of_any_size_have_the_same_values(tmp_path: Path) -> None:
    found = {k: outcomes(tmp_path / str(k), k, 100, 0) for k in (1, 7, 20, "auto")}
    for k, loops in found.items():
        for task in WORKERS:
            assert loops[task]["step"] == [100]
            assert loops[task]["weights"] == pytest.approx(found[1]["chief:0"]["weights"], rel=1e-6)
            assert (loops[task]["unseen"][0] > 50) == (k != 1)
