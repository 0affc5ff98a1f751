"""Five programs of users of tf.estimator run without an edit."""

import re
import subprocess

import forked
import numpy as np
import pytest
from legacy_programs import COMMAND, PROGRAMS, environment
from PIL import Image
from program_data import write_mnist

from estimator_train.launcher.network import ReservedAddresses


def write_jpegs(folder):
    random = np.random.RandomState(0)
    for name, channel in (("CNV", 0), ("NORMAL", 2)):
        (folder / name).mkdir(parents=True)
        for number in range(8):
            pixels = random.randint(0, 90, (40, 40, 3)).astype(np.uint8)
            pixels[..., channel] += 150
            Image.fromarray(pixels).save(folder / name / f"{number}.jpg")


@pytest.mark.long
def test_notebook_on_two_devices(run, tmp_path):
    write_mnist(tmp_path / ".keras" / "datasets" / "fashion-mnist")
    done = run("fashion_multi_gpu.py", HOME=tmp_path, MODEL_DIR=tmp_path / "model")
    # 2 epochs of 256 images, 32 for each of 2 replicas.
    assert "replicas 2 steps seen 8\n" in done.stdout
    assert re.search(r"\d+\.\d images/second with 2 GPUs", done.stdout)
    assert "'global_step': 8" in done.stdout
    loss = float(re.search(r"'loss': ([\d.]+)", done.stdout)[1])
    assert loss < 2.303  # The loss of a guess among 10 classes.
    assert done.stderr.count("MirroredStrategy asks for 2 GPUs, but there are 0") == 1
    assert (tmp_path / "model" / "model.ckpt-8.index").exists()


@pytest.mark.long
def test_jpeg_pipeline_into_frozen_vgg16(run, tmp_path):
    write_jpegs(tmp_path / "data")
    done = run("oct_jpegs.py", DATA_DIR=tmp_path / "data", MODEL_DIR=tmp_path / "model")
    assert "frozen stays True\nlast is trained True\n" in done.stdout
    assert "'global_step': 4" in done.stdout


@pytest.mark.long
def test_parameter_server_of_three_processes(tmp_path):
    reserved = ReservedAddresses(3)
    ps, *workers = reserved.addresses
    cluster = [f"--ps_hosts={ps}", f"--worker_hosts={','.join(workers)}", "--log_dir=log"]

    def start(*arguments):
        return subprocess.Popen(
            forked.python(COMMAND, "run", PROGRAMS / "parameter_server.py", *cluster, *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment(TF_USE_LEGACY_KERAS=1),
        )

    def trained(steps):
        """Returns the outputs of the ps and the workers after all have ended."""
        roles = (["--job_name=ps"], *(["--job_name=worker", f"--task_index={n}"] for n in (0, 1)))
        processes = [start(*role, steps) for role in roles]
        try:
            for process in processes:
                process.wait(timeout=200)
        finally:
            for process in processes:
                process.kill()
            texts = [process.communicate() for process in processes]
            assert [process.returncode for process in processes] == [0, 0, 0], texts
        return [stdout for stdout, _ in texts]

    ended, *outputs = trained("--steps=2000")
    # The chief leaves after the other worker, whose two messages may come in any order.
    assert sorted(ended.splitlines()) == ["done 0", "done 1"]
    assert "variables on /job:ps/task:0" in outputs[0]
    # The other worker may train before the chief reads its first step.
    assert int(re.search(r"starts at step (\d+)", outputs[0])[1]) < 2000
    assert re.search(r"saved at step 20\d\d", outputs[0])
    # Both train the same variables, on the server, towards 2 and -1.
    for output in outputs:
        assert "starts at step" in output
        weights = [float(w) for w in re.search(r"w \[(\S+), (\S+)\]", output).groups()]
        np.testing.assert_allclose(weights, [2, -1], atol=0.05)
    again = trained("--steps=2100")[1]
    assert re.search(r"starts at step 20\d\d", again)
    assert len(list((tmp_path / "log").glob("model.ckpt-21*.index"))) == 1
    assert len(list((tmp_path / "log").glob("*.index"))) == 1
    reserved.release()


@pytest.mark.long
def test_keras_program_restores_and_continues(run, tmp_path):
    done = run("keras_multi_device.py", WORK_DIR=tmp_path)
    losses = [float(x) for x in re.findall(r"^loss \S+ (\S+)$", done.stdout, re.MULTILINE)]
    assert "Number of devices: 2\nCreating a new model" in done.stdout
    assert "Restoring from ckpt-2" in done.stdout
    assert losses[1] < losses[0] < 1.0


@pytest.mark.long
def test_keras_callbacks_and_saved_models(run, tmp_path):
    done = run("keras_callbacks.py", WORK_DIR=tmp_path)
    rates = ["epoch 1 lr 0.0100", "epoch 2 lr 0.0100", "epoch 3 lr 0.0010"]
    assert [line for line in done.stdout.splitlines() if line.startswith("epoch")] == rates
    assert "same True\n" in done.stdout


@pytest.mark.long
def test_strategies_by_their_old_names_train_alike(run, tmp_path):
    done = run("strategies.py", WORK_DIR=tmp_path)
    losses = [line.split()[1] for line in done.stdout.splitlines() if "Strategy" in line]
    assert len(losses) == 5
    assert len(set(losses)) == 1
    assert float(losses[0]) < 0.1
