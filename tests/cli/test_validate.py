"""The command `validate`.

These tests cover `cli/commands/validate.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from estimator_train.cli.main import main

PROGRAM = """
import argparse
import estimator_train as est
import tensorflow as tf
parser = argparse.ArgumentParser()
parser.add_argument("--model_dir")
parser.add_argument("--random", action="store_true")
arguments = parser.parse_args()
seed = None if arguments.random else 1
config = est.RunConfig(arguments.model_dir, tf_random_seed=seed)
column = tf.feature_column.numeric_column("x")
estimator = est.DNNRegressor([4], [column], config=config)

def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [1.0, 2.0])).repeat()

estimator.train(input_fn, steps=3)
"""


def arguments_for(tmp_path: Path, *more: str) -> list[str]:
    (tmp_path / "train.py").write_text(PROGRAM)
    script = [str(tmp_path / "train.py"), "--model_dir={model_dir}"]
    flags = [f"--old_python={sys.executable}", f"--output_dir={tmp_path / 'both'}"]
    return ["validate", *flags, *more, "--", *script]


@pytest.mark.long
def test_a_program_runs_under_both_packages(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments_for(tmp_path)) == 0
    assert "equal within rtol=0.0001 and atol=1e-06" in capfd.readouterr().out
    assert (tmp_path / "both" / "old" / "model.ckpt-3.index").exists()
    assert (tmp_path / "both" / "new" / "model.ckpt-3.index").exists()


@pytest.mark.long
def test_random_initial_values_are_found_or_copied(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = [*arguments_for(tmp_path), "--random"]
    assert main(arguments) == 1
    assert "The initial values differ." in capfd.readouterr().out
    copied = f"--output_dir={tmp_path / 'copied'}"
    assert main(["validate", "--copy_start", arguments[1], copied, *arguments[3:]]) == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["validate"], "two model directories are needed"),
        (["validate", "a"], "two model directories are needed"),
        (["validate", "--", "train.py"], "--old_python=PYTHON is needed"),
        (["validate", "--old_python=x", "--", "train.py"], "the program needs {model_dir}"),
        (["validate", "no/a", "no/b"], "no/a is not a directory"),
    ],
)
def test_wrong_arguments_print_one_line(
    arguments: list[str], text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capfd.readouterr().err
    assert error.startswith("estimator-train: error: ")
    assert text in error


def test_an_error_names_the_output_file_of_a_failed_program(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = arguments_for(tmp_path)
    (tmp_path / "train.py").write_text("raise SystemExit(3)")
    assert main(arguments) == 2
    log = tmp_path / "both" / "old.log"
    assert f"failed with exit code 3; its output is in {log}" in capfd.readouterr().err
    assert log.exists()
