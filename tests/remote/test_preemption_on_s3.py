"""Signals and kills of a job whose model_dir is on S3; the next start has an empty disk."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from processes import run_process


def start(directory, tmp_path, steps):
    command = [
        sys.executable, "-m", "estimator_train", "train", "--preset", "digits",
        f"--model_dir={directory}", f"--max_train_steps={steps}", "--save_checkpoints_steps=50",
        "--save_summary_steps=10",
    ]  # fmt: skip
    disk = tmp_path / os.urandom(4).hex()
    disk.mkdir()
    environment = {**os.environ, "HOME": str(disk), "TMPDIR": str(disk)}
    return command, disk, environment


def list_checkpoints(store, bucket):
    found = (
        re.fullmatch(r"run/model\.ckpt-(\d+)\.index", key)
        for key in store.list_keys(bucket, "run/")
    )
    return sorted(int(match[1]) for match in found if match)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_next_machine_continues(store, bucket, tmp_path, number):
    directory = f"s3://{bucket}/run"
    command, disk, environment = start(directory, tmp_path, 100_000)
    process = subprocess.Popen(
        command, cwd=disk, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    for _ in process.stderr:
        if len(list_checkpoints(store, bucket)) >= 2:
            process.send_signal(number)
            break
    _, errors = process.communicate(timeout=200)
    assert process.returncode == (143 if number == signal.SIGTERM else -9), errors[-2000:]
    # A kill may come between the files of a checkpoint and the file that names it, and the store
    # may get one more after the kill.
    named = store.read_latest_step(bucket, "run")
    last = list_checkpoints(store, bucket)[-1]
    assert named == last if number == signal.SIGTERM else named in (last, last - 50)
    command, disk, environment = start(directory, tmp_path, last + 100)
    done = run_process(command, cwd=disk, env=environment)
    restored = re.findall(r"/run/model\.ckpt-(\d+)\b", done.stdout + done.stderr)
    assert named <= int(restored[0]) <= last
    assert list_checkpoints(store, bucket)[-1] == last + 100
    history = [key for key in store.list_keys(bucket) if key.endswith("history.jsonl")]
    for key in history:
        assert all(json.loads(line) for line in store.read(bucket, key).splitlines())
