"""Fixture that runs an old program in another process."""

import forked
import pytest
from legacy_programs import COMMAND, PROGRAMS, SEEDED, environment
from processes import run_process


@pytest.fixture
def run(tmp_path):
    """Returns a function that runs a program of `programs/`, or a text, and returns the process.

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
