"""`estimator-train convert-trees`: converts a SavedModel of boosted trees of tf.estimator."""

import tensorflow as tf
from boosted_trees_exported import EXPORTS


def test_a_saved_model_is_converted(command, tmp_path):
    target = tmp_path / "converted"
    done = command("convert-trees", str(EXPORTS / "batches"), str(target))
    assert (done.code, done.out) == (0, f"{target}: converted from {EXPORTS / 'batches'}\n")
    serve = tf.saved_model.load(str(target)).signatures["predict"]
    assert serve.structured_outputs["logits"].shape.as_list() == [None, 1]


def test_wrong_directories_are_reported_in_a_line(command, tmp_path):
    for arguments, message in (
        ((EXPORTS / "people",), "two directories are needed, OLD_DIR and NEW_DIR, got 1."),
        ((tmp_path, tmp_path / "new"), f"{tmp_path} has no SavedModel of boosted trees"),
        ((EXPORTS / "people", tmp_path), f"{tmp_path} exists."),
    ):
        done = command("convert-trees", *map(str, arguments))
        assert done.code == 2
        assert message in done.err.splitlines()[-1]
