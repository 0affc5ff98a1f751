"""Training continues in a model_dir of the original, and the original continues in ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tiers
from continuing import CHECKPOINTS, FIRST, JOBS, MORE, copy_checkpoint, train
from outcomes import recorded

from tests.training.our_names import OURS

UNBROKEN = recorded("checkpoints")
CONTINUED = recorded("continued")


@pytest.mark.parametrize("name", tiers.every(3, JOBS))
def test_a_checkpoint_of_the_original_continues_as_an_unbroken_training(
    tmp_path: Path, name: str
) -> None:
    copy_checkpoint(CHECKPOINTS / name, tmp_path)
    seen = train(JOBS[name], OURS, tmp_path, MORE)
    assert seen["losses"] == pytest.approx(UNBROKEN[name]["losses"][FIRST:], rel=1e-5)
    assert seen["evaluation"] == pytest.approx(UNBROKEN[name]["evaluation"], rel=1e-5)
    assert seen["variables"] == UNBROKEN[name]["variables"]


@pytest.mark.parametrize("name", tiers.every(3, JOBS))
def test_our_checkpoint_equals_the_one_that_the_original_continued(
    tmp_path: Path, name: str
) -> None:
    actual = train(JOBS[name], OURS, tmp_path, FIRST)
    assert actual["variables"] == CONTINUED[name]["variables"]
    assert actual["losses"] == pytest.approx(UNBROKEN[name]["losses"][:FIRST], rel=1e-5)
    ours, original = (
        tf.train.load_checkpoint(str(path / f"model.ckpt-{FIRST}"))
        for path in (tmp_path, CHECKPOINTS / name)
    )
    for variable in set(original.get_variable_to_shape_map()) - {"_CHECKPOINTABLE_OBJECT_GRAPH"}:
        pair = ours.get_tensor(variable), original.get_tensor(variable)
        np.testing.assert_allclose(*pair, rtol=1e-5, atol=1e-6, err_msg=variable)


@pytest.mark.parametrize("name", JOBS)
def test_the_recording_of_the_original_that_continues_ours_equals_its_own(name: str) -> None:
    losses, evaluation = UNBROKEN[name]["losses"][FIRST:], UNBROKEN[name]["evaluation"]
    assert CONTINUED[name]["losses"] == pytest.approx(losses, rel=1e-5)
    assert CONTINUED[name]["evaluation"] == pytest.approx(evaluation, rel=1e-5)
