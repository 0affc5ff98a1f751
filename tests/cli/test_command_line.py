"""The command line before TensorFlow is loaded: help, and mistyped commands and flags.

These tests cover `cli/main.py`.
"""

import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
import tensorflow as tf
import tf_keras
from processes import run_process

import estimator_train
from estimator_train.cli.main import COMMANDS

ROOT = str(Path(estimator_train.__file__).parents[1])


def test_help_lists_commands_and_examples(command):
    outcome = command("--help")
    assert outcome.code == 0
    for listed in COMMANDS:
        assert re.search(rf"^  {listed.name} +{re.escape(listed.summary)}$", outcome.out, re.M)
    assert "estimator-train train --preset digits" in outcome.out


NAMES = ", ".join(command.name for command in COMMANDS)


@pytest.mark.parametrize("name", ["train", "evaluate", "predict", "export"])
def test_help_of_a_command_explains_each_flag_in_short_lines(command, name):
    outcome = command(name, "--help")
    assert outcome.code == 0
    assert "  --batch_size, -bs  Examples in one step" in outcome.out
    assert "(default: 32)" in outcome.out
    assert "--preset  <digits|fashion_mnist|oct>: A job" in outcome.out
    assert "--flagfile" in outcome.out
    assert ("--checkpoint_path" in outcome.out) == (name != "train")
    assert max(map(len, outcome.out.splitlines())) <= 100


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], f"a command is needed: one of {NAMES}. --help describes them."),
        (["trian"], "unknown command 'trian'. Did you mean train?"),
        (["--x"], f"unknown command '--x'. The commands are {NAMES}."),
        (
            ["train", "--bach_size=3"],
            "Unknown command line flag 'bach_size'. Did you mean: batch_size ?",
        ),
        (
            ["train", "digits"],
            "unexpected argument 'digits': train takes only flags, such as --model_dir=DIR.",
        ),
        (
            ["train", "--batch_size=many"],
            "flag --batch_size=many: invalid literal for int() with base 10: 'many'",
        ),
        (
            ["train", "--flagfile=none.flags"],
            "Unable to open flagfile: [Errno 2] No such file or directory: 'none.flags'",
        ),
        (
            ["evaluate", "--preset=mnist"],
            "flag --preset=mnist: value should be one of <digits|fashion_mnist|oct>",
        ),
        (
            ["train", "--distribution_strategy=parameter_server"],
            "--distribution_strategy=parameter_server needs tasks of the job `ps` in TF_CONFIG (or "
            "ESTIMATOR_TRAIN_PS under Slurm, SageMaker and torchrun), as `estimator-train launch "
            "--ps=1 --workers=2 -- ...` makes them.",
        ),
    ],
)
def test_a_mistake_prints_one_line_and_exits_with_code_2(command, arguments, line):
    outcome = command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"estimator-train: error: {line}\n"


def test_debug_adds_the_traceback(command):
    outcome = command("train", "--bach_size=3", "--debug")
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback (most recent call last):")
    assert outcome.err.splitlines()[-1].startswith("estimator-train: error: Unknown command")


def test_version_lists_installed_packages(command):
    outcome = command("--version")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        f"estimator-train {estimator_train.__version__}",
        f"TensorFlow {tf.__version__}",
        f"tf-keras {tf_keras.__version__}",
        f"Python {sys.version.split()[0]}",
    ]


def test_the_version_of_the_distribution_is_that_of_the_package():
    assert metadata.version("estimator-train") == estimator_train.__version__


def test_help_and_mistakes_do_not_load_tensorflow(tmp_path):
    """Runs `python -m estimator_train` where a `flags.py` is first on the path."""
    (tmp_path / "flags.py").write_text("raise RuntimeError('the wrong flags')\n")
    (tmp_path / "tensorflow.py").write_text("raise RuntimeError('TensorFlow was imported')\n")

    def run(*arguments):
        return run_process(
            [sys.executable, "-m", "estimator_train", *arguments],
            exit_code=None,
            cwd=tmp_path,
            timeout=300,
            PYTHONPATH=ROOT,
        )

    helped = run("train", "--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    said = run("--version")
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith(f"estimator-train {estimator_train.__version__}\nTensorFlow ")
    refused = run("train", "--batch_size=0")
    assert refused.returncode == 2
    assert refused.stderr.startswith("estimator-train: error: flag --batch_size=0: ")
