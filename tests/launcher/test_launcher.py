"""The launcher, with small programs in the place of trainings.

These tests cover `cli/commands/launch.py`, `cli/job/user_code.py`, `launcher/launch.py`,
`launcher/launch.py`, `launcher/process.py` and `launcher/process.py`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import launched as support
import pytest
from launched import Outcome, finish, launched, processes_with, start
from processes import run_process

from estimator_train.cli.main import main

PROGRAM = """
import json, os, pathlib, signal, sys, time
config = json.loads(os.environ.get("TF_CONFIG", '{"task": {"type": "alone", "index": 0}}'))
task = config["task"]
name = f"{task['type']}:{task['index']}"
folder = pathlib.Path(sys.argv[1])
count = len(list(folder.glob(f"{name}.*")))
(folder / f"{name}.{count}").touch()
"""


def run(tmp_path: Path, code: str, *arguments: str) -> Outcome:
    return launched(arguments, [sys.executable, "-c", PROGRAM + code, str(tmp_path)])


def wait_for_no_process(tmp_path: Path) -> None:
    """Waits until no process has this path among its arguments: the system ends them later."""
    end = time.monotonic() + 200
    while processes_with(str(tmp_path)):
        assert time.monotonic() < end, processes_with(str(tmp_path))
        time.sleep(0.05)


def starts(tmp_path: Path) -> dict[str, int]:
    """Returns how often each task was started."""
    names = [path.name.rpartition(".")[0] for path in tmp_path.iterdir()]
    return {name: names.count(name) for name in sorted(set(names))}


def test_each_process_has_its_role_and_a_distinct_address(tmp_path: Path) -> None:
    code = "print(json.dumps(config)); print('to stderr', file=sys.stderr)"
    done = run(tmp_path, code, "--workers=2", "--ps=1", "--evaluator")
    assert done.code == 0
    assert starts(tmp_path) == dict.fromkeys(
        ["chief:0", "evaluator:0", "ps:0", "worker:0", "worker:1"], 1
    )
    configs = {name: json.loads(done.lines(name)[0]) for name in starts(tmp_path)}
    cluster = configs["chief:0"]["cluster"]
    assert {job: len(tasks) for job, tasks in cluster.items()} == {"chief": 1, "worker": 2, "ps": 1}
    assert len(set(sum(cluster.values(), []))) == 4
    assert all(config["cluster"] == cluster for config in configs.values())
    assert configs["worker:1"]["task"] == {"type": "worker", "index": 1}
    assert "to stderr" in done.lines("ps:0")


@pytest.mark.skipif(sys.platform != "linux", reason="ports are reserved on Linux")
def test_ports_of_a_job_are_reserved_for_its_servers(tmp_path: Path) -> None:
    code = """
import random, socket
from estimator_train.launcher import network
host, _, port = config["cluster"][task["type"]][0].rpartition(":")
choices = iter([int(port), 14_990 + (task["type"] == "worker")])
random.randint = lambda first, last: next(choices)
print(network.ReservedAddresses(1).addresses)  # As another launcher that searches for free ports.
with socket.socket() as server:  # Without SO_REUSEADDR, as a program may.
    server.bind((host, int(port)))
    server.listen()
    with socket.create_connection(server.getsockname()):
        print("reached")
"""
    done = run(tmp_path, code, "--workers=1")
    for name, port in (("chief:0", 14_990), ("worker:0", 14_991)):
        assert done.lines(name) == [f"['127.0.0.1:{port}']", "reached"]


def test_a_chief_alone_needs_no_cluster(tmp_path: Path) -> None:
    run(tmp_path, "")
    assert starts(tmp_path) == {"alone:0": 1}


def test_launcher_returns_the_chiefs_exit_code_and_ends_hanging_tasks(tmp_path: Path) -> None:
    code = """
if task["type"] == "ps":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # As a process does that hangs in a collective.
    time.sleep(1000)
number = folder / "number"
if task["type"] == "worker":
    (folder / "unfinished").write_text(str(os.getpid()))
    (folder / "unfinished").rename(number)
if task["type"] == "chief":  # It ends when the launcher has seen the end of the worker.
    while not number.exists() or os.path.exists(f"/proc/{number.read_text()}"):
        time.sleep(0.01)
"""
    done = run(tmp_path, code, "--workers=1", "--ps=1", "--grace_secs=0.5")
    assert done.code == 0
    assert done.lines("launch") == ["Training is done; sending SIGTERM to ps:0."]
    assert not processes_with(str(tmp_path))


def test_evaluator_secs_limits_the_last_evaluation(tmp_path: Path) -> None:
    code = "if name == 'evaluator:0': time.sleep(1000)"
    done = run(tmp_path, code, "--evaluator", "--evaluator_secs=0.3", "--grace_secs=100")
    assert done.code == 0
    assert done.lines("launch") == ["Training is done; sending SIGTERM to evaluator:0."]
    assert not processes_with(str(tmp_path))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--ps=1"], {"chief:0": 1, "ps:0": 1, "worker:0": 3, "worker:1": 1}),
        ([], {"chief:0": 3, "worker:0": 3, "worker:1": 3}),
    ],
)
def test_a_failed_worker_restarts_and_without_ps_all_trainers(
    tmp_path: Path, more: list[str], expected: dict[str, int]
) -> None:
    code = """
if name == "worker:0" and count < 2:
    others = {"chief:0", "worker:1"}
    attempt = 0 if "ps" in config["cluster"] else count  # With ps, only this task restarts.
    while not all((folder / f"{other}.{attempt}").exists() for other in others):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL) if count else sys.exit(1)
while len(list(folder.glob("worker:0.*"))) < 3:
    time.sleep(0.05)
"""
    done = run(tmp_path, code, "--workers=2", "--grace_secs=60", *more)
    assert done.code == 0, done.text
    assert starts(tmp_path) == expected
    assert "worker:0 failed with exit code 1." in done.lines("launch")
    assert "worker:0 was ended by SIGKILL." in done.lines("launch")


@pytest.mark.parametrize(
    ("code", "expected", "tries"), [("sys.exit(7)", 7, 3), ("sys.exit(2)", 2, 1)]
)
def test_restarts_are_limited_and_bad_input_is_never_restarted(
    tmp_path: Path, code: str, expected: int, tries: int
) -> None:
    program = f"\nif name == 'worker:0': {code}\ntime.sleep(1000)"
    done = run(tmp_path, program, "--workers=1", "--ps=1", "--max_restarts=2")
    assert done.code == expected
    assert starts(tmp_path)["worker:0"] == tries
    assert not processes_with(str(tmp_path))


FAILING = """
def save(step):
    with open(os.environ["ESTIMATOR_TRAIN_CHECKPOINT_FILE"], "w") as file:
        file.write(f"model.ckpt-{step}")
def fail_here():
    raise KeyError("lost")
"""


def test_three_failures_at_the_same_place_without_a_checkpoint_end_the_job(tmp_path: Path) -> None:
    program = FAILING + "if name == 'worker:0': fail_here()\ntime.sleep(1000)"
    done = run(tmp_path, program, "--workers=1", "--ps=1", "--max_restarts=1000")
    assert done.code == 1
    assert starts(tmp_path)["worker:0"] == 3
    told = done.lines("launch")
    assert re.fullmatch(
        r"worker:0 failed with exit code 1: KeyError: 'lost' \(<string>:\d+\)\.", told[0]
    )
    assert told[1] == "Restarting worker:0; 999 more restarts are allowed."
    assert told[3] == "Restarting worker:0 in 1 s; 998 more restarts are allowed."
    assert told[-1] == (
        "Not restarting: worker:0 failed repeatedly at the same place, with no new checkpoint in "
        f"between. {told[0]}"
    )


def test_a_new_checkpoint_before_each_failure_keeps_restarting(tmp_path: Path) -> None:
    program = FAILING + "save(count)\nif count < 4: fail_here()"
    done = run(tmp_path, program)
    assert (done.code, starts(tmp_path)) == (1, {"alone:0": 4})  # All three restarts are used.
    done = run(tmp_path, program)
    assert (done.code, starts(tmp_path)) == (0, {"alone:0": 5})


def test_the_copy_of_a_step_counts_after_a_kill_and_not_after_an_error(tmp_path: Path) -> None:
    code = """
copy = pathlib.Path(os.environ["ESTIMATOR_TRAIN_MEMORY_DIR"], "interim.json")
print("found", copy.exists(), flush=True)
copy.touch()
if count == 0:
    os.kill(os.getpid(), signal.SIGKILL)
if count == 1:
    sys.exit(1)
"""
    done = run(tmp_path, code)
    assert done.code == 0, done.text
    assert done.lines("chief:0") == ["found False", "found True", "found False"]


def test_signals_are_forwarded_and_the_exit_code_is_the_chiefs(tmp_path: Path) -> None:
    code = """
def stop(*_):
    print("told")
    sys.exit(143)
signal.signal(signal.SIGTERM, stop)
print("ready")
while True:
    time.sleep(0.05)  # A signal just before one long sleep would be handled after it.
"""
    program = [sys.executable, "-c", PROGRAM + code, str(tmp_path)]
    process = start(["--workers=1", "--ps=1"], program)
    assert process.stdout is not None
    seen = [process.stdout.readline() for _ in range(3)]
    assert all("ready" in line for line in seen)
    os.kill(process.pid, signal.SIGTERM)
    done = finish(process, 300)
    assert done.code == 143
    assert done.text.count("told") == 3
    assert not processes_with(str(tmp_path))


def test_a_signal_that_arrives_while_a_task_starts_reaches_the_task(tmp_path: Path) -> None:
    # The signal arrives when the process exists and the launcher has not noted it.
    code = f"""
import os, signal, sys
from estimator_train.launcher import launch
from estimator_train.launcher.launch import LocalJob
make = launch.TaskProcess
def make_slowly(name, *arguments):
    made = make(name, *arguments)
    if name == "worker:0":
        os.kill(os.getpid(), signal.SIGTERM)
    return made
launch.TaskProcess = make_slowly
command = [sys.executable, "-c", "import time; time.sleep(1000)", {str(tmp_path)!r}]
sys.exit(launch.launch(LocalJob(command, workers=1, grace_secs=5, standby=False)))
"""
    done = finish(support.start_python(code), 300)
    assert done.code == 143
    assert "still runs" not in done.text
    assert not processes_with(str(tmp_path))


def test_a_signal_between_a_failure_and_its_restart_ends_the_job(tmp_path: Path) -> None:
    task = PROGRAM + "if count: time.sleep(1000)\nsys.exit(7)"
    code = f"""
import os, signal, sys
from estimator_train.launcher import launch
from estimator_train.launcher.launch import LocalJob
count = launch.FailureHistory.count_restart
def count_and_signal(history):
    os.kill(os.getpid(), signal.SIGTERM)
    return count(history)
launch.FailureHistory.count_restart = count_and_signal
command = [sys.executable, "-c", {task!r}, {str(tmp_path)!r}]
sys.exit(launch.launch(LocalJob(command, grace_secs=5, standby=False)))
"""
    done = finish(support.start_python(code), 300)
    assert done.code == 7
    assert starts(tmp_path) == {"alone:0": 1}


def test_a_signal_after_the_training_leaves_the_evaluator_time_to_end(tmp_path: Path) -> None:
    task = (
        PROGRAM
        + """
def stop(*_):
    time.sleep(0.5)
    print("ended in time")
    sys.exit()
if task["type"] == "evaluator":
    signal.signal(signal.SIGTERM, stop)
    (folder / "ready").touch()
    while True:
        time.sleep(0.05)
while not (folder / "ready").exists():
    time.sleep(0.05)
"""
    )
    # The signal arrives when the launcher knows that the chief is done.
    code = f"""
import os, signal, sys
from estimator_train.launcher import launch
from estimator_train.launcher.launch import LocalJob
end = launch._Launcher._end_other_tasks
def signal_and_end(launcher):
    os.kill(os.getpid(), signal.SIGTERM)
    end(launcher)
launch._Launcher._end_other_tasks = signal_and_end
command = [sys.executable, "-c", {task!r}, {str(tmp_path)!r}]
sys.exit(launch.launch(LocalJob(command, evaluator=True, grace_secs=30, standby=False)))
"""
    done = finish(support.start_python(code), 300)
    assert done.code == 0
    assert done.lines("evaluator:0") == ["ended in time"]


def test_a_killed_launcher_ends_all_its_processes(tmp_path: Path) -> None:
    code = """
import subprocess
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)", str(folder)])
reports = os.path.dirname(os.environ["ESTIMATOR_TRAIN_CHECKPOINT_FILE"])
print("ready", os.environ["ESTIMATOR_TRAIN_MEMORY_DIR"], reports)
time.sleep(1000)
"""
    program = [sys.executable, "-c", PROGRAM + code, str(tmp_path)]
    process = start(["--workers=1", "--ps=1"], program)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    (directories,) = {line.rpartition("ready ")[2].strip() for line in lines}
    memory, reports = directories.split()
    assert memory.startswith("/dev/shm/")
    assert os.path.isdir(memory)
    assert os.path.isdir(reports)
    process.kill()
    finish(process, 300)
    wait_for_no_process(tmp_path)
    end = time.monotonic() + 200  # The guard removes the directories after it has killed all.
    while os.path.exists(memory) or os.path.exists(reports):
        assert time.monotonic() < end, os.listdir(memory)
        time.sleep(0.05)


def test_a_launcher_ends_with_the_test_that_started_it(tmp_path: Path) -> None:
    task = [sys.executable, "-c", PROGRAM + "print('ready')\ntime.sleep(1000)", str(tmp_path)]
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(support.__file__).parent)!r})
import launched
process = launched.start([], {task!r})
process.stdout.readline()
print(launched.processes_with({str(tmp_path)!r}))
os.kill(os.getpid(), 9)
"""
    test = run_process([sys.executable, "-c", code], exit_code=-signal.SIGKILL)
    assert "estimator_train launch" in test.stdout
    wait_for_no_process(tmp_path)


def test_the_goodput_of_all_tasks_is_added_up(tmp_path: Path) -> None:
    # The seconds are many, so that those of the restart of a process are none of them.
    code = """
if task["type"] != "ps":
    start = float(os.environ["ESTIMATOR_TRAIN_STARTED"])
    if count:
        steps, secs, first = 30, {"start": 100.0, "steps": 400.0}, 10
    else:
        steps, secs, first = 20, {"start": 100.0, "steps": 200.0}, 0
    goodput = {"run": start, "from_step": first, "secs": secs}
    line = {"step": steps, "time": start + sum(secs.values()), "goodput": goodput}
    with open(os.environ["ESTIMATOR_TRAIN_GOODPUT_FILE"], "a") as file:
        file.write(json.dumps(line) + "\\n")
    if task["type"] == "worker" and not count:
        os.kill(os.getpid(), signal.SIGKILL)
    while len(list(folder.glob("worker:0.*"))) < 2:
        time.sleep(0.05)
"""
    done = run(tmp_path, code, "--workers=1", "--ps=1", "--grace_secs=60")
    *_, chief, worker, job = done.lines("launch")
    assert "Goodput of chief:0: 0.67 (200.0 s of 300.0 s useful, 20 steps kept, 0 lost" in chief
    assert "500.0 s of" in worker
    assert (
        "30 steps kept, 10 lost, 1 restarts; time lost: start 200.0 s, lost steps 100.0 s" in worker
    )
    assert job.startswith("Goodput of the job: ")
    assert "(700.0 s of " in job


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["launch"], "a program is needed"),
        (["launch", "--workers=-1", "--", "true"], "--workers"),
        (["launch", "--", "/no/such/program"], "/no/such/program: No such file or directory"),
        (["evaluate", "--", "x"], "unexpected argument '--'"),
    ],
)
def test_bad_input_prints_one_line(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert text in err
    assert err.count("\n") == 1
