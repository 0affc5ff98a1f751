"""What the tests of old programs share: running one, unedited, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from legacy_programs import COMMAND, PROGRAMS, SEEDED, environment


@pytest.fixture
def run(tmp_path):
    """Runs a program of `programs/`, or one given as text, and returns the ended process.

    The same random numbers each time: a network that starts badly learns nothing in its few steps.
    """

    def runs(program, *arguments, switches=SEEDED, exit_code=0, **variables):
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


@pytest.fixture(scope="session")
def program_server():
    """The process whose forks run programs."""
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("program_server.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )
    yield server
    server.stdin.close()
    server.wait()


@pytest.fixture
def run_fork(program_server, tmp_path):
    """Runs a program as `run` does, without the time that TensorFlow's import takes.

    Returns what it wrote, as (stdout, stderr).
    """

    def runs(*arguments, cwd=tmp_path, exit_code=0, **variables):
        texts = {name: str(tmp_path / name) for name in ("stdout", "stderr")}
        job = {"arguments": [*SEEDED, *arguments], "cwd": str(cwd), "variables": variables, **texts}
        program_server.stdin.write(json.dumps(job) + "\n")
        program_server.stdin.flush()
        answer = program_server.stdout.readline()
        stdout, stderr = (Path(text).read_text() for text in texts.values())
        assert int(answer) == exit_code, stdout[-2000:] + stderr[-3000:]
        return stdout, stderr

    return runs
