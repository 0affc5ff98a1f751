"""Runs each example and checks its output."""

import gzip
import json
import os
import re
import shlex
import struct
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
import tfjob
from processes import run_process

EXAMPLES = Path(__file__).parents[2] / "examples"
# Keras's guides: one text, which `tests/keras/test_guides.py` runs.
GUIDES = {"keras_distributed.py", "keras_multi_gpu.py"}


def run(directory, name, *arguments):
    """Runs an example in a directory; returns its output."""
    outcome = run_process(forked.python(EXAMPLES / name, *arguments), cwd=directory)
    return outcome.stdout


def number_after(text, output):
    return float(re.search(rf"^{text} ([\d.]+)", output, re.MULTILINE)[1])


def test_examples_are_short_and_listed():
    names = {path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh", ".ipynb")}
    listed = re.findall(r"\]\(([\w.]+)\)", (EXAMPLES / "README.md").read_text())
    assert sorted(listed) == sorted(names)
    lines = {name: len((EXAMPLES / name).read_text().splitlines()) for name in names - GUIDES}
    assert {name: count for name, count in lines.items() if count >= 120} == {}


@pytest.mark.long
def test_the_census_example_runs(tmp_path):
    output = run(tmp_path, "census_wide_deep.py", "runs/census")
    assert number_after("accuracy", output) > 0.85
    assert list((tmp_path / "runs/census/export/best").glob("*/saved_model.pb"))


@pytest.mark.long
def test_the_keras_3_example_runs(tmp_path):
    output = run(tmp_path, "keras3_own_step.py", "runs/adversarial")
    assert number_after("accuracy", output) > 0.9


@pytest.mark.long
def test_the_text_example_runs(tmp_path):
    output = run(tmp_path, "text_columns.py", "runs/text")
    assert number_after("accuracy", output) > 0.95
    assert "good 1 0" in output


@pytest.mark.long
def test_the_hooks_example_runs(tmp_path):
    output = run(tmp_path, "own_hooks.py", "runs/hooks")
    assert "weights 1.0 -2.0 0.5" in output
    assert number_after("largest gradient", output) > 0
    assert "learning rate 0.0500" in output


@pytest.mark.long
def test_the_pictures_example_runs(tmp_path):
    output = run(tmp_path, "jpeg_transfer.py", "--steps=8")
    assert output.startswith("8 steps in ")
    assert 0 <= number_after("accuracy", output) <= 1


@pytest.mark.long
def test_the_devices_example_runs(tmp_path):
    random = np.random.default_rng(0)
    for part, count in (("train", 64), ("t10k", 32)):
        pictures = random.integers(0, 256, [count, 28, 28], np.uint8)
        labels = np.arange(count, dtype=np.uint8) % 10
        for kind, values in (("images-idx3", pictures), ("labels-idx1", labels)):
            shape = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
            data = gzip.compress(shape + values.tobytes())
            (tmp_path / f"{part}-{kind}-ubyte.gz").write_bytes(data)
    output = run(tmp_path, "fashion_devices.py", ".", "runs/fashion", "--steps=10")
    assert output.startswith("10 steps in ")
    assert "accuracy" in output


def test_the_scheduler_examples_run(tmp_path, monkeypatch):
    command = shlex.join(forked.python("-m", "estimator_train"))
    (tmp_path / "estimator-train").write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    (tmp_path / "estimator-train").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    subprocess.run([EXAMPLES / "schedulers.sh", "jobs"], cwd=tmp_path, check=True)
    slurm = (tmp_path / "jobs/job.sbatch").read_text()
    kubeflow = (tmp_path / "jobs/job.yaml").read_text()
    assert "#SBATCH --time=04:00:00" in slurm
    assert "census_wide_deep.py" in slurm
    assert tfjob.faults(kubeflow) == []
    for kind in ("Chief", "Worker", "PS", "Evaluator"):
        assert kubeflow.count(f"    {kind}:") == 1


class Doubled(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        return {"y": 2 * x}


@pytest.mark.long
def test_the_serving_example_answers(tmp_path):
    model = Doubled()
    tf.saved_model.save(model, str(tmp_path), signatures=model.__call__)
    command = forked.python(EXAMPLES / "serve.py", tmp_path, 0)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[-1]
            for body, answer in (
                ([[1.0, 2.0]], {"y": [[2.0, 4.0]]}),
                ({"x": [[0.5, 0]]}, {"y": [[1, 0]]}),
            ):
                data = json.dumps(body).encode()
                with urllib.request.urlopen(address, data, timeout=60) as response:
                    assert json.loads(response.read()) == answer
            with pytest.raises(urllib.error.HTTPError, match="400"):
                urllib.request.urlopen(address, b'{"z": 1}', timeout=60)
        finally:  # The end of the block waits for the server.
            server.terminate()


@pytest.mark.long
def test_the_notebook_runs(tmp_path):
    import nbclient
    import nbformat

    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    cells = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    shown = [kind for output in cells[1] for kind in output.get("data", {})]
    assert "application/vnd.jupyter.widget-view+json" in shown
    (report,) = [output for output in cells[2] if output.output_type == "execute_result"]
    assert "data:image/png;base64," in report.data["text/html"]
