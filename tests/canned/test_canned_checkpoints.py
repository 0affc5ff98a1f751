"""Model directories of the original's canned estimators continue here, and the other way round."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tiers
from canned_checkpoints import CHECKPOINTS, MODELS, begin, go_on, home_of
from outcomes import recorded

from tests.canned.test_canned_figures import V1, V2

APIS = {"v2": V2, "v1": V1}
FIRST = {("v2", "dnn regressor")}


@pytest.mark.parametrize(("api", "name"), tiers.first(FIRST, MODELS))
def test_training_continues_from_a_checkpoint_of_the_original(
    api: str, name: str, tmp_path: Path
) -> None:
    home = home_of(api, name)
    shutil.copytree(CHECKPOINTS / home, tmp_path / "model")
    losses = go_on(APIS[api], name, str(tmp_path / "model"))
    assert losses == pytest.approx(recorded("canned_continued")[home], rel=1e-5)


@pytest.mark.parametrize(("api", "name"), tiers.first(FIRST, MODELS))
def test_checkpoints_equal_the_recorded_ones(api: str, name: str, tmp_path: Path) -> None:
    home = home_of(api, name)
    begin(APIS[api], name, str(tmp_path / "new"))
    ours, theirs = (
        tf.train.load_checkpoint(str(path)) for path in (tmp_path / "new", CHECKPOINTS / home)
    )
    shapes = theirs.get_variable_to_shape_map()
    assert ours.get_variable_to_shape_map() == shapes
    assert ours.get_variable_to_dtype_map() == theirs.get_variable_to_dtype_map()
    # TensorFlow saves slots of partitions under names that no reader puts together.
    for variable in (name for name in shapes if "/t_" not in name):
        found, expected = ours.get_tensor(variable), theirs.get_tensor(variable)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=variable)


def test_the_original_continues_our_checkpoints_as_it_continues_its_own() -> None:
    """Compares two recordings; the tests above compare ours with them."""
    ours, original = recorded("canned_continued_ours"), recorded("canned_continued")
    for home in original:
        assert ours[home] == pytest.approx(original[home], rel=1e-5), home
