"""Preemption: Slurm requeues the job, earlier signal handlers run, a record is written."""

import json
import os
import signal
import stat
import sys

import forked
import pytest
from absl import flags as absl_flags
from processes import run_process

import flags
from estimator_train.cli import results
from estimator_train.cli.commands.train import exit_saved_on_signal
from estimator_train.lifecycle import limits
from estimator_train.lifecycle.preemption import Preempted, Preemption, raise_if_requested, watch


@pytest.fixture
def flag_values():
    values = absl_flags.FlagValues()
    flags.define_batch_job_flags(values)
    return values


@pytest.mark.parametrize(
    ("variables", "asked"),
    [
        ({"SLURM_JOB_ID": "71"}, "requeue 71\n"),
        (
            {"SLURM_JOB_ID": "72", "SLURM_ARRAY_JOB_ID": "71", "SLURM_ARRAY_TASK_ID": "3"},
            "requeue 71_3\n",
        ),
        ({"SLURM_JOB_ID": "71", "SLURM_PROCID": "1"}, ""),
    ],
)
def test_slurm_requeues_the_job_once(flag_values, variables, asked, tmp_path, monkeypatch):
    program = tmp_path / "scontrol"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    program.chmod(stat.S_IRWXU)
    (tmp_path / "asked").touch()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    flag_values(["train", "--slurm_requeue"])
    # Ahead of the end of its time, Slurm sends this one.
    with pytest.raises(Preempted), exit_saved_on_signal(flag_values):
        os.kill(os.getpid(), signal.SIGUSR1)
    assert (tmp_path / "asked").read_text() == asked


def test_a_failed_requeue_is_reported_on_stderr(flag_values, tmp_path, monkeypatch, capsys):
    program = tmp_path / "scontrol"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("SLURM_JOB_ID", "71")
    flag_values(["train", "--slurm_requeue"])
    with pytest.raises(Preempted), exit_saved_on_signal(flag_values):
        os.kill(os.getpid(), signal.SIGUSR1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "--slurm_requeue: Command '['scontrol', 'requeue', '71']' returned non-zero" in err


def test_earlier_signal_handlers_are_called_and_restored():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        mine = signal.getsignal(signal.SIGTERM)
        with watch(Preemption()) as listening, listening.defer():
            os.kill(os.getpid(), signal.SIGTERM)
            assert listening.requested
        assert heard == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_interrupt_from_the_keyboard_saves_if_it_is_one_of_the_signals():
    with watch(Preemption(("SIGINT",))) as listening, listening.defer():
        os.kill(os.getpid(), signal.SIGINT)
        assert listening.requested
        with pytest.raises(Preempted):
            raise_if_requested("testing")


def test_a_handler_that_exits_does_so_at_once_outside_of_training():
    before = signal.signal(signal.SIGUSR2, lambda number, frame: sys.exit(7))
    try:
        with pytest.raises(SystemExit, match="7"), watch(Preemption(("SIGUSR2",))):
            os.kill(os.getpid(), signal.SIGUSR2)
    finally:
        signal.signal(signal.SIGUSR2, before)


ENDS_AT_ONCE = f"""
import sys
from absl import flags as absl_flags
import flags
from {limits.__name__} import end_now
from {results.__name__} import record_run

values = absl_flags.FlagValues()
flags.define_batch_job_flags(values)
values(["train", "--job_summary=" + sys.argv[1]])
with record_run(values):
    print(open(sys.argv[1]).read())
    end_now(142, "a step took too long")
"""


def test_record_is_written_at_the_start_and_at_a_hard_exit(tmp_path):
    path = tmp_path / "record.json"
    done = run_process(forked.python("-c", ENDS_AT_ONCE, path), exit_code=142, timeout=300)
    assert json.loads(done.stdout)["exit"] == {"code": None, "cause": "still running, or killed"}
    found = json.loads(path.read_text())
    assert found["exit"] == {"code": 142, "cause": "a step took too long"}
    assert list(tmp_path.iterdir()) == [path]
