"""Warm start: errors that the original does not raise, and its limits.

`test_jobs_as_original` compares the results with those of the original.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from job_warm_start import source, word_input, word_model_fn

import estimator_train as et
from estimator_train.engine.checkpoints import warm_start
from tests.training.our_names import OURS


@pytest.mark.parametrize("pattern", ["nothing.*", ["embedding", "nothing.*"]])
def test_a_pattern_without_a_match_logs_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, pattern: str | list[str]
) -> None:
    settings = et.WarmStartSettings(source(OURS, str(tmp_path / "m")).model_dir, pattern)
    job = et.Estimator(word_model_fn(OURS), tmp_path / "m", warm_start_from=settings)
    with caplog.at_level(logging.WARNING):
        job.train(word_input, steps=1)
    told = [r.getMessage() for r in caplog.records if "matches none" in r.getMessage()]
    assert len(told) == 1
    assert "the pattern 'nothing.*', which matches none of the variables [" in told[0]
    assert "'embedding'" in told[0]


def test_the_source_may_be_deleted_after_training_has_begun(tmp_path: Path) -> None:
    first = source(OURS, str(tmp_path / "m"))
    model_fn = word_model_fn(OURS)
    et.Estimator(model_fn, tmp_path / "m", warm_start_from=first.model_dir).train(
        word_input, steps=1
    )
    shutil.rmtree(first.model_dir)
    again = et.Estimator(model_fn, tmp_path / "m", warm_start_from=first.model_dir)
    again.train(word_input, steps=1)
    assert again.get_variable_value("global_step") == 2


def test_training_under_a_strategy_starts_from_a_checkpoint(tmp_path: Path) -> None:
    first = source(OURS, str(tmp_path / "m"))
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    job = et.Estimator(
        word_model_fn(OURS),
        tmp_path / "m",
        config=et.RunConfig(train_distribute=strategy),
        warm_start_from=first.model_dir,
    )
    job.train(word_input, steps=1)
    np.testing.assert_array_equal(
        job.get_variable_value("embedding"), first.get_variable_value("embedding")
    )


def test_settings_take_a_path(tmp_path: Path) -> None:
    first = source(OURS, str(tmp_path / "m"))
    job = et.Estimator(word_model_fn(OURS), tmp_path / "m", warm_start_from=Path(first.model_dir))
    job.train(word_input, steps=1)
    np.testing.assert_array_equal(
        job.get_variable_value("layer"), first.get_variable_value("layer")
    )


@pytest.mark.parametrize("tf_or_v1", [tf, tf.compat.v1])
@pytest.mark.parametrize("axis", [0, 1])
def test_new_words_get_a_constant(tmp_path: Path, tf_or_v1: Any, axis: int) -> None:
    first = source(OURS, str(tmp_path / "m"))
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("red\ngreen\nblue\n" + "grey\n" * (axis == 0))
    new.write_text("teal\nblue\nred\npink\ngrey\n")
    initializer = tf_or_v1.constant_initializer(7.0)
    name = ("embedding", "layer")[axis]
    size = (4, 3)[axis]
    info = et.VocabInfo(str(new), 5, 0, str(old), size, initializer, axis=axis)
    settings = et.WarmStartSettings(first.model_dir, None, {name: info})
    model_fn = word_model_fn(OURS, **{("rows", "columns")[axis]: 5})
    job = et.Estimator(model_fn, tmp_path / "m", warm_start_from=settings)
    job.train(word_input, steps=1)
    expected = np.full((5, 2) if axis == 0 else (2, 5), 7.0, np.float32)
    kept = {1: 2, 2: 0} | ({4: 3} if axis == 0 else {})
    before = first.get_variable_value(name)
    for place, old_place in kept.items():
        np.moveaxis(expected, axis, 0)[place] = np.moveaxis(before, axis, 0)[old_place]
    np.testing.assert_array_equal(job.get_variable_value(name), expected)


def test_a_word_beyond_the_columns_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """TensorFlow reads other memory for it, so that the session is not run with it."""
    first = source(OURS, str(tmp_path / "m"))
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("red\ngreen\nblue\ngrey\n")
    new.write_text("blue\nred\npink\ngrey\n")
    settings = et.WarmStartSettings(
        first.model_dir, None, {"layer": et.VocabInfo(str(new), 4, 0, str(old), 3, axis=1)}
    )
    with tf.Graph().as_default():
        tf.compat.v1.get_variable("layer", [2, 4])
        warm_start.apply(settings, None)
    assert "has the word 'grey' in line 4, but the variable in the checkpoint has 3" in caplog.text
    caplog.clear()
    new.write_text("blue\nred\npink\nteal\n")  # Columns that no word has do not matter.
    job = et.Estimator(word_model_fn(OURS, columns=4), tmp_path / "m", warm_start_from=settings)
    job.train(word_input, steps=1)
    assert "has the word" not in caplog.text
    before, after = first.get_variable_value("layer"), job.get_variable_value("layer")
    np.testing.assert_array_equal(after[:, :2], before[:, [2, 0]])


def test_a_vocabulary_size_beyond_the_file_raises_an_error(tmp_path: Path) -> None:
    first = source(OURS, str(tmp_path / "m"))
    words = tmp_path / "words"
    words.write_text("red\ngreen\nblue\ngrey\n")
    info = et.VocabInfo(str(words), 4, 0, str(words), old_vocab_size=6)
    settings = et.WarmStartSettings(
        first.model_dir, "embedding", var_name_to_vocab_info={"embedding": info}
    )
    job = et.Estimator(word_model_fn(OURS), tmp_path / "m", warm_start_from=settings)
    with pytest.raises(ValueError, match="'embedding': old_vocab .* has 4 lines, but 6 are needed"):
        job.train(word_input, steps=1)


def test_a_vocabulary_of_one_word_needs_no_size(tmp_path: Path) -> None:
    first = source(OURS, str(tmp_path / "m"))
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("red\n")
    new.write_text("blue\nred\ngreen\ngrey\n")
    info = et.VocabInfo(str(new), 4, 0, str(old))
    settings = et.WarmStartSettings(
        first.model_dir, "embedding", var_name_to_vocab_info={"embedding": info}
    )
    job = et.Estimator(word_model_fn(OURS), tmp_path / "n", warm_start_from=settings)
    job.train(word_input, steps=1)
    assert job.get_variable_value("embedding").shape[0] == 4


@pytest.mark.parametrize("kind", ["SavedModel", "path", "bytes"])
def test_settings_take_every_source_that_an_estimator_takes(tmp_path: Path, kind: str) -> None:
    first = source(OURS, str(tmp_path / "m"))
    expected = first.get_variable_value("embedding")
    named: str | bytes | Path = Path(first.model_dir)
    if kind == "bytes":
        named = str(named).encode()
    if kind == "SavedModel":
        with tf.Graph().as_default():
            word = tf.compat.v1.placeholder(tf.int64, [None])
        receiver = et.export.build_raw_serving_input_receiver_fn({"word": word})
        named = first.export_saved_model(tmp_path / "export", receiver).decode()
        shutil.rmtree(first.model_dir)
    settings = et.WarmStartSettings(named, "embedding")  # type: ignore[arg-type]
    job = et.Estimator(word_model_fn(OURS), tmp_path / "n", warm_start_from=settings)
    job.train(word_input, steps=1)
    np.testing.assert_array_equal(job.get_variable_value("embedding"), expected)


@pytest.mark.parametrize("has_settings", [False, True])
def test_an_error_names_a_directory_without_a_checkpoint(
    tmp_path: Path, has_settings: bool
) -> None:
    (tmp_path / "empty").mkdir()
    named = str(tmp_path / "empty")
    start = et.WarmStartSettings(named) if has_settings else named
    job = et.Estimator(word_model_fn(OURS), tmp_path / "m", warm_start_from=start)
    with pytest.raises(TypeError, match="the directory .*empty contains neither a checkpoint"):
        job.train(word_input, steps=1)
