"""What the tests of old programs share: running one, unedited, in a process of its own."""

import subprocess

import forked
import pytest
from legacy_programs import COMMAND, PROGRAMS, SEEDED, environment


@pytest.fixture
def run(tmp_path):
    """Runs a program of `programs/`, or one given as text, and returns the ended process.

    The same random numbers each time: a network that starts badly learns nothing in its few steps.
    In a fork; `python` is what else starts it, for a program that asks what an import does.
    """

    def runs(program, *arguments, switches=SEEDED, exit_code=0, python=None, cwd=None, **variables):
        if "\n" in program:
            path = tmp_path / "script.py"
            path.write_text(program)
            program = path
        elif not program.startswith("-"):
            program = PROGRAMS / program
        command = ["run", *switches, str(program), *arguments]
        if python is None:
            # TensorFlow is imported already; this is how its Keras is chosen all the same.
            variables["TF_USE_LEGACY_KERAS"] = 1
            command = forked.python(COMMAND, *command)
        else:
            command = [*python, COMMAND, *command]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=cwd or tmp_path,
            env=environment(**variables),
            timeout=280,
        )
        assert done.returncode == exit_code, done.stdout + done.stderr[-3000:]
        return done

    return runs
