"""The short form of `cluster.py`: tasks of clusters are killed, and whole clusters preempted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import tensorflow as tf
from cluster import Cluster, killed, preempted
from cluster_job import NOISE, SAVE_STEPS


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "victims"), [("sync", ["evaluator-0", "worker-0"]), ("async", ["ps-0", "chief-0"])]
)
@pytest.mark.parametrize("model", ["model_fn", "keras_3"])
def test_killed_tasks_lose_at_most_one_checkpoint_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, kind: str, victims: list[str]
) -> None:
    monkeypatch.setenv("MODEL", model)
    cluster = Cluster(tmp_path, kind)
    seen = killed(cluster, 2, random.Random(1), victims[::-1])
    assert seen["code"] == 0, cluster.output()[-3000:]
    assert seen["victims"] == victims
    assert seen["metrics"]["global_step"] == seen["steps"]
    assert seen["metrics"]["loss"] < 2 * NOISE**2
    assert max(seen["lost"]) <= SAVE_STEPS
    assert not seen["left_behind"]


@pytest.mark.long
def test_killed_synchronous_workers_continue_from_a_copy_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAVE_STEPS", "10000")  # The only checkpoint is of step 0.
    monkeypatch.setenv("STEP_SECS", "0.03")
    cluster = Cluster(tmp_path, "sync")
    seen = killed(cluster, 2, random.Random(1), ["chief-0", "worker-0"])
    assert seen["code"] == 0, cluster.output()[-3000:]
    assert seen["victims"] == ["worker-0", "chief-0"]
    assert seen["metrics"]["global_step"] == seen["steps"]
    assert seen["metrics"]["loss"] < 2 * NOISE**2
    chief, worker = (
        [step for what, step, _ in cluster.notes(task) if what == "restored"][-1]
        for task in ("chief-0", "worker-0")
    )
    assert chief == worker > 0
    saved = {path.name for path in (tmp_path / "model").glob("*.index")}
    assert saved == {"model.ckpt-0.index", f"model.ckpt-{seen['steps']}.index"}
    assert not seen["left_behind"]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["async", "sync"])
def test_a_preempted_cluster_continues_at_the_next_step(tmp_path: Path, kind: str) -> None:
    cluster = Cluster(tmp_path, kind)
    seen = preempted(cluster, 1 if kind == "async" else 2, random.Random(1), steps_each=10)
    assert set(seen["codes"]) == {143}, cluster.output()[-3000:]
    assert not seen["left_behind"]
    if kind == "async":
        path = tf.train.latest_checkpoint(str(tmp_path / "model"))
        assert tf.train.load_variable(path, "global_step") >= seen["ends"][0]["chief-0"]
    else:
        # All end after the same step, which the task that receives the signal does not record.
        behind = [seen["starts"][1] - end for end in seen["ends"][0].values()]
        assert set(behind) <= {0, 1}
