"""What the tests of old programs share: running one, unedited, in a process of its own."""

import subprocess

import pytest
from legacy_programs import COMMAND, PROGRAMS, environment


@pytest.fixture
def run(tmp_path):
    """Runs a program of `programs/`, or one given as text, and returns the ended process."""

    def runs(program, *arguments, switches=(), exit_code=0, **variables):
        if "\n" in program:
            path = tmp_path / "script.py"
            path.write_text(program)
        else:
            path = PROGRAMS / program
        done = subprocess.run(
            [*COMMAND, *switches, str(path), *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(**variables),
            timeout=280,
        )
        assert done.returncode == exit_code, done.stdout + done.stderr[-3000:]
        return done

    return runs
