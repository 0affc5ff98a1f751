"""Model directories of the original's wide-and-deep estimators continue here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import tensorflow as tf
from canned_checkpoints import begin, go_on
from outcomes import GOLDEN, recorded
from test_canned_figures import V1, V2

APIS = {"v2": V2, "v1": V1}


@pytest.mark.parametrize("name", APIS)
def test_training_goes_on_from_a_checkpoint_of_the_original(name: str, tmp_path: Path) -> None:
    home = GOLDEN / "checkpoints" / f"canned_{name}"
    shutil.copytree(home, tmp_path / "model")
    losses = go_on(APIS[name], str(tmp_path / "model"))
    assert losses == pytest.approx(recorded("canned_continued")[name], rel=1e-5)
    begin(APIS[name], str(tmp_path / "new"))
    ours, theirs = (
        dict(tf.train.list_variables(tf.train.latest_checkpoint(str(path))))
        for path in (tmp_path / "new", home)
    )
    assert ours == theirs
