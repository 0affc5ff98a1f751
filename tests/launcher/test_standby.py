"""The standby process: its imports, the tasks that it forks, and what happens without it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from launched import finish, processes_with, start

from estimator_train.goodput import STARTED_VARIABLE
from estimator_train.launcher import standby as standby_of_launcher, standby_server
from estimator_train.launcher.process import Guard
from estimator_train.launcher.python_program import (
    Imports,
    PythonProgram,
    find_imports,
    parse_command,
)
from estimator_train.launcher.standby import ForkedProcess, Standby

PY = sys.executable


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ([PY, "a.py", "--x"], PythonProgram([PY], "", "a.py", ["--x"])),
        ([PY, "-u", "-X", "dev", "a.py"], PythonProgram([PY, "-u", "-X", "dev"], "", "a.py", [])),
        (["python3", "-m", "a.b", "1"], PythonProgram(["python3"], "a.b", "", ["1"])),
        ([PY, "-ma.b", "x.csv"], PythonProgram([PY], "a.b", "", ["x.csv"])),
        ([PY, "-um", "a.b", "x"], PythonProgram([PY, "-u"], "a.b", "", ["x"])),
        (
            [PY, "-Wd", "-uX", "dev", "a.py"],
            PythonProgram([PY, "-Wd", "-uX", "dev"], "", "a.py", []),
        ),
        (
            [PY, "--check-hash-based-pycs", "never", "a.py"],
            PythonProgram([PY, "--check-hash-based-pycs", "never"], "", "a.py", []),
        ),
        ([PY, "-uc", "pass"], None),
        ([PY, "-", "a.py"], None),
        ([PY, "-m"], None),
        ([PY, "-c", "pass"], None),
        ([PY], None),
        (["sh", "run.sh"], None),
        (["/no/such/program"], None),
    ],
)
def test_commands_are_read(command: list[str], expected: PythonProgram | None) -> None:
    assert parse_command(command) == expected


def test_a_console_script_is_a_python_program(tmp_path: Path) -> None:
    script = tmp_path / "tool"
    script.write_text(f"#!{PY}\n")
    script.chmod(0o755)
    assert parse_command([str(script), "a"]) == PythonProgram([PY], "", str(script), ["a"])


def write(path: Path, text: str) -> str:
    path.write_text(textwrap.dedent(text))
    return str(path)


@pytest.mark.long
def test_imports_of_own_modules_are_followed_without_running_them(tmp_path: Path) -> None:
    script = write(
        tmp_path / "train.py",
        """
        import os
        os.environ["MODE"] = "fast"
        os.environ.setdefault("LEVEL", "3")
        import numpy as np
        from own import parts
        import no_such_module
        if __name__ == "__main__":
            os.environ["LATE"] = str(1)
        """,
    )
    own = "import wave\nraise SystemExit(1)\ndef f():\n    import absl.flags\n"
    write(tmp_path / "own.py", own)
    found = find_imports(PythonProgram([PY], "", script, []), [str(tmp_path), *sys.path])
    assert list(found.packages) == ["os", "numpy", "wave", "absl.flags"]
    assert found.variables == {"MODE": "fast", "LEVEL": "3"}
    assert not found.obstacle


def test_a_variable_that_is_not_constant_prevents_preloading(tmp_path: Path) -> None:
    text = "import os\nif True:\n    os.environ['A'] = str(1)\n"
    script = write(tmp_path / "train.py", text)
    found = find_imports(PythonProgram([PY], "", script, []), [str(tmp_path)])
    assert found.obstacle == f"{script}:2"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (
            "import threading; go = threading.Event(); threading.Thread(target=go.wait).start()",
            "thr",
        ),
        ("import os; os.chdir('/')", "the working directory"),
        ("import signal; signal.signal(signal.SIGUSR2, print)", "the handlers of signals"),
    ],
)
def test_an_import_with_side_effects_is_refused(
    code: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"effects_{what[:3]}_{len(code)}"
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    found = Imports({"json": None, name: None})
    monkeypatch.setattr(standby_server, "find_imports", lambda *_: found)
    before = signal.getsignal(signal.SIGUSR2)
    try:
        with pytest.raises(standby_server.SideEffectError, match=f"importing {name} changes"):
            standby_server._preload(PythonProgram([PY], "", "x.py", []))
    finally:
        signal.signal(signal.SIGUSR2, before)
        if what == "thr":
            sys.modules[name].go.set()


PROGRAM = """
import os, random, sys
import wave
import numpy
print("preloaded", "wave" in MODULES, __name__, sys.argv[1:], os.environ["TASK"], flush=True)
print("draws", numpy.random.randint(1 << 30), flush=True)
if sys.argv[1] == "fail":
    raise ValueError("bad: 3")
if sys.argv[1] == "kill":
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Standby]]:
    """Provides a function that starts a standby process and waits until it is settled."""
    # Later, the launcher would start a new process.
    monkeypatch.setattr(standby_of_launcher, "_REPLY_SECS", 200.0)
    guard, made = Guard(), []

    def make_one(how: str, code: str = PROGRAM) -> tuple[Standby, list[str]]:
        text = "import sys\nMODULES = set(sys.modules)\n" + code
        lines: list[str] = []
        command = [PY, write(tmp_path / "train.py", text), how]
        made.append(Standby(command, {"COMMON": "1"}, guard, lines.append))
        end = time.monotonic() + 200
        while not (made[-1]._is_ready or lines) and time.monotonic() < end:
            made[-1].poll()
            time.sleep(0.01)
        return made[-1], lines

    yield make_one
    for one in made:
        one.close()
    guard.close()


def start_task(standby: Standby, task: str) -> ForkedProcess:
    process = standby.start_task({"TASK": task, STARTED_VARIABLE: str(time.time())})
    assert process is not None
    return process


def test_tasks_are_forked_with_imported_packages(make: Callable[..., tuple[Standby, list[str]]]):
    standby, _ = make("run")
    draws = set()
    for task in ("a", "b"):
        process = start_task(standby, task)
        assert os.getpgid(process.pid) == process.pid
        output = process.stdout.read().decode()
        assert f"preloaded True __main__ ['run'] {task}" in output
        draws.add(re.findall(r"draws (\d+)", output)[0])
        assert process.wait() == process.poll() == 0
    assert len(draws) == 2


def test_a_task_that_the_launcher_has_abandoned_ends(
    make: Callable[..., tuple[Standby, list[str]]],
) -> None:
    standby, _ = make("run")
    assert standby._connection is not None
    reader, writer = os.pipe()
    accepted, accept = os.pipe()
    variables = {"TASK": "a", STARTED_VARIABLE: str(time.time())}
    message = json.dumps(variables).encode()
    socket.send_fds(standby._connection, [message], [writer, accepted])
    reply = standby._receive(200)
    for descriptor in (writer, accepted, accept):
        os.close(descriptor)
    assert reply is not None
    process = ForkedProcess(reply["pid"], reader)
    assert (process.stdout.read(), process.wait()) == (b"", 1)
    assert start_task(standby, "b").wait() == 0


@pytest.mark.parametrize(("how", "code"), [("fail", 1), ("kill", -9)])
def test_exit_codes_of_forked_tasks(
    how: str, code: int, make: Callable[..., tuple[Standby, list[str]]]
) -> None:
    process = start_task(make(how)[0], "a")
    output = process.stdout.read().decode()
    assert process.wait() == code
    assert (output.splitlines()[-1] == "ValueError: bad: 3") == (how == "fail")


def test_a_standby_process_that_dies_is_reported_once(
    make: Callable[..., tuple[Standby, list[str]]],
) -> None:
    standby, lines = make("run")
    assert standby._process is not None
    standby._process.kill()
    standby._process.wait()
    for _ in range(2):
        assert standby.start_task({"TASK": "a", STARTED_VARIABLE: "0"}) is None
    assert lines == [
        "The standby process has ended. A killed task starts as a new process. --nostandby avoids "
        "this message."
    ]


def test_a_program_that_cannot_be_preloaded_still_restarts(tmp_path: Path) -> None:
    code = """
import os, sys, time
from pathlib import Path
for name in ("A",):
    os.environ[name] = "1"
pids = Path(sys.argv[1], "pids")
pids.open("a").write(f"{os.getpid()}\\n")
while len(pids.read_text().split()) < 2:
    time.sleep(0.05)  # Until it is killed.
print("restarted")
"""
    script = write(tmp_path / "train.py", code)
    process = start([], [PY, script, str(tmp_path)])
    assert process.stdout is not None
    assert process.stdout.readline() == (
        f"[launch] There is no standby process: {script}:4 sets an environment variable before "
        "imports. A killed task starts as a new process. --nostandby avoids this message.\n"
    )
    pids, deadline = tmp_path / "pids", time.monotonic() + 200
    while not (pids.exists() and pids.read_text().endswith("\n")):
        assert time.monotonic() < deadline, "the program did not start"
        time.sleep(0.05)
    os.kill(int(pids.read_text()), signal.SIGKILL)
    done = finish(process, 300)
    assert (done.code, done.lines("chief:0")) == (0, ["restarted"])
    assert not processes_with(str(tmp_path))
