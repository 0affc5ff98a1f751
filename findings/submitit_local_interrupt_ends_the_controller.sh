#!/usr/bin/env bash
# submitit 1.5.4, Python 3.11.
#
# `_interrupt` of a job of LocalExecutor, "for testing purpose", should send the signal of preemption.
# It sends SIGUSR2 to the controller of the tasks, which handles SIGTERM only and ends. The task gets
# no signal: it is not asked for a checkpoint and not queued again, and runs on without a controller.
# Near the job's timeout the controller sends SIGUSR2 to the task, whose checkpoint is then used.
#
# Output seen:
#   after _interrupt: result True, state INTERRUPTED, starts 1, checkpoints 0
#   after SIGUSR2 to the task: result True, state FINISHED, starts 2, checkpoints 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import os
import signal
import sys
import time
from pathlib import Path

import submitit


class Task:
    """Runs for four seconds if it is started for the first time, and can be continued."""

    def __call__(self, notes):
        first = not list(notes.glob("start-*"))
        (notes / f"start-{os.getpid()}").touch()
        deadline = time.monotonic() + 4
        while first and time.monotonic() < deadline:
            time.sleep(0.1)
        return True

    def checkpoint(self, notes):
        (notes / f"checkpoint-{os.getpid()}").touch()
        return submitit.helpers.DelayedSubmission(self, notes)


def report(name, interrupt):
    notes = Path(sys.argv[1], name.replace(" ", "_"))
    notes.mkdir()
    executor = submitit.LocalExecutor(sys.argv[1] + "/log")
    executor.update_parameters(timeout_min=5)
    job = executor.submit(Task(), notes)
    while not list(notes.glob("start-*")):
        time.sleep(0.1)
    interrupt(job, int(next(notes.glob("start-*")).name.split("-")[1]))
    result, state = job.result(), job.state
    starts, checkpoints = (len(list(notes.glob(kind))) for kind in ("start-*", "checkpoint-*"))
    print(f"{name}: result {result}, state {state}, starts {starts}, checkpoints {checkpoints}")


report("after _interrupt", lambda job, task: job._interrupt())
report("after SIGUSR2 to the task", lambda job, task: os.kill(task, signal.SIGUSR2))
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet submitit==1.5.4
"$folder/venv/bin/python" "$folder/program.py" "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
