"""Jobs that cannot run: one clear line, exit code 2, no restart, and nothing left behind."""

from __future__ import annotations

from pathlib import Path

import forked
import pytest
import tensorflow as tf
from launched import launched, processes_with

import estimator_train as est

PROGRAM = """
import json, os, socket, sys
import tensorflow as tf
import estimator_train as est
sys.path.insert(0, sys.argv[1])
from linear_job import input_fn, model_fn

def taken_port():
    place = json.loads(os.environ["TF_CONFIG"])
    if place["task"]["type"] == "chief":
        host, _, port = place["cluster"]["chief"][0].rpartition(":")
        kept.append(socket.create_server((host, int(port))))

kept = []
strategy = {strategy}
config = est.RunConfig(sys.argv[2], train_distribute=strategy, session_creation_timeout_secs=90)
est.train_and_evaluate(
    est.Estimator(model_fn, config=config), est.TrainSpec(input_fn, 10), est.EvalSpec(input_fn)
)
"""


@pytest.mark.parametrize(
    ("task", "strategy", "text"),
    [
        ("--workers=1", "tf.distribute.MirroredStrategy(['/cpu:0'])", "TF_CONFIG has 2 that train"),
        (
            "--ps=1",
            "tf.distribute.MultiWorkerMirroredStrategy()",
            "synchronous workers use no such task",
        ),
        ("--ps=1", "taken_port()", "is taken by another process"),
    ],
    ids=["mirrored workers", "synchronous workers with ps", "a taken port"],
)
def test_a_job_that_cannot_run_prints_one_line(
    tmp_path: Path, task: str, strategy: str, text: str
) -> None:
    code = PROGRAM.replace("{strategy}", strategy)
    program = forked.python("-c", code, Path(__file__).parent, tmp_path)
    done = launched([task], program)
    assert done.code == 2, done.text[-3000:]
    said = [line for line in done.text.splitlines() if text in line]
    assert said
    assert all("error: " in line for line in said)
    assert "Traceback" not in done.text
    assert not any("Restarting" in line for line in done.lines("launch"))
    assert not processes_with(str(tmp_path))


@pytest.mark.parametrize("device", ["/gpu:7", "/device:GPU:7"])
def test_a_missing_gpu_raises_an_error(tmp_path: Path, device: str) -> None:
    strategy = tf.distribute.OneDeviceStrategy(device)
    config = est.RunConfig(str(tmp_path), train_distribute=strategy)
    with pytest.raises(ValueError, match="train on GPU 7, and TensorFlow finds 0"):
        est.Estimator(lambda: None, config=config)
