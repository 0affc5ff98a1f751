"""Canned estimators train in clusters of processes as in one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from canned_job import (
    HEIGHTS,
    SERVED_STEPS,
    STEPS,
    TREES,
    classes,
    classifier,
    heights,
    one_height_each,
    regressor,
    trees,
)
from fifty_steps import Losses
from launched import launched, python


@pytest.mark.long
def test_each_parameter_server_holds_a_part_of_an_embedding(tmp_path: Path) -> None:
    done = launched(
        ["--workers=1", "--ps=1", "--max_restarts=0"], python("canned_job.py", tmp_path, "servers")
    )
    assert done.code == 0, done.text[-3000:]
    for task in ("chief:0", "worker:0"):
        parts = [line for line in done.lines(task) if line.startswith("part ")]
        assert parts == [f"part {n} 3 4 /job:ps/task:0" for n in (0, 1)]
    served, alone = regressor(str(tmp_path)), regressor(str(tmp_path / "alone"))
    alone.train(heights, steps=SERVED_STEPS)
    assert served.get_variable_value("global_step") >= SERVED_STEPS
    names = served.get_variable_names()
    assert names == alone.get_variable_names()
    (table,) = [name for name in names if name.endswith("embedding_weights")]
    assert served.get_variable_value(table).shape == (6, 4)
    for estimator in (served, alone):
        rows = estimator.predict(lambda: heights().take(1))
        found = [float(row["predictions"][0]) for row in rows]
        np.testing.assert_allclose(found, HEIGHTS, atol=0.05)


@pytest.mark.long
def test_workers_of_parameter_servers_grow_the_trees_of_one_process(tmp_path: Path) -> None:
    done = launched(
        ["--workers=2", "--ps=1", "--max_restarts=0"],
        python("canned_job.py", tmp_path / "served", "trees"),
    )
    assert done.code == 0, done.text[-3000:]
    served, alone = trees(str(tmp_path / "served")), trees(str(tmp_path / "alone"))
    alone.train(one_height_each)
    assert alone.get_variable_value("boosted_trees/finished_trees") == TREES
    for name in ("finished_trees", "feature", "threshold", "value"):
        pair = (each.get_variable_value(f"boosted_trees/{name}") for each in (served, alone))
        np.testing.assert_allclose(*pair, rtol=1e-5, atol=1e-7, err_msg=name)


@pytest.mark.long
def test_synchronous_workers_have_the_losses_of_one_process(tmp_path: Path) -> None:
    donor = classifier(str(tmp_path / "donor")).train(classes, steps=1).model_dir
    alone = Losses()
    classifier(str(tmp_path / "alone"), donor).train(classes, hooks=[alone], steps=STEPS)
    done = launched(
        ["--workers=1", "--max_restarts=0"],
        python("canned_job.py", tmp_path / "workers", "workers", donor),
    )
    assert done.code == 0, done.text[-3000:]
    assert len(alone.seen) == STEPS
    for task in ("chief:0", "worker:0"):
        # As in the original, the reported loss of a head is the sum over replicas.
        of_each = [loss / 2 for loss in json.loads(done.lines(task)[-1])]
        assert of_each == pytest.approx(alone.seen, rel=1e-4)
