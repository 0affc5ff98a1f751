"""Command, environment and fixture for running old programs in tests."""

import os
import sysconfig
from pathlib import Path

import forked
import pytest
from processes import run_process

PROGRAMS = Path(__file__).parents[1] / "legacy" / "programs"
# Not `python -m`, which searches the working directory for modules first.
COMMAND = os.path.join(sysconfig.get_path("scripts"), "estimator-train")
SEEDED = ["--seed=1"]


def environment(**variables):
    return {
        **{k: v for k, v in os.environ.items() if k not in ("TF_USE_LEGACY_KERAS", "TF_CONFIG")},
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **{name: str(value) for name, value in variables.items()},
    }


@pytest.fixture
def run(tmp_path):
    """Returns a function that runs a program of `PROGRAMS`, or a text, and returns the process.

    The program is seeded: with unlucky initial values a network learns nothing in its few steps.
    It runs in a fork; `python` names a command to start it with, for a test of imports.
    """

    def run_program(
        program, *arguments, switches=SEEDED, exit_code=0, python=None, cwd=None, **variables
    ):
        if "\n" in program:
            path = tmp_path / "script.py"
            path.write_text(program)
            program = path
        elif not program.startswith("-"):
            program = PROGRAMS / program
        command = ["run", *switches, str(program), *arguments]
        if python is None:
            # The fork has imported TensorFlow, which chooses its Keras by this variable.
            variables["TF_USE_LEGACY_KERAS"] = 1
            command = forked.python(COMMAND, *command)
        else:
            command = [*python, COMMAND, *command]
        return run_process(
            command,
            exit_code=exit_code,
            cwd=cwd or tmp_path,
            timeout=280,
            env=environment(**variables),
        )

    return run_program
