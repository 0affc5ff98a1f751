"""An exported model in a fresh process that has only TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import forked
import keras_jobs
import numpy as np
import pytest
import tensorflow as tf
import training_jobs
from processes import run_process

import estimator_train as et
from estimator_train.training.exporters import FinalExporter
from estimator_train.training.specs import EvalSpec, TrainSpec
from estimator_train.training.train_and_evaluate import train_and_evaluate
from tests.training.our_names import OURS

ROWS = 5


def raw_receiver() -> Any:
    x = tf.compat.v1.placeholder(tf.float32, [None, 20], name="x")
    return et.export.ServingInputReceiver({"x": x}, {"x": x})


@pytest.mark.long
def test_saved_model_cli_computes_what_predict_does(tmp_path: Path) -> None:
    job = keras_jobs.JOBS["adam"]
    estimator = job.build(OURS, str(tmp_path / "model"), et.RunConfig())
    spec = EvalSpec(job.eval_input, exporters=FinalExporter("final", raw_receiver))
    _, (path,) = train_and_evaluate(estimator, TrainSpec(job.train_input, max_steps=5), spec)
    rows = training_jobs.rows(ROWS, 7)[0]

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors({"x": rows})

    served = saved_model_cli(path.decode(), rows, tmp_path / "served")
    predicted = list(estimator.predict(input_fn))
    assert sorted(served) == sorted(predicted[0])
    for name, values in served.items():
        expected = [prediction[name] for prediction in predicted]
        np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-6)


def saved_model_cli(path: str, rows: np.ndarray, directory: Path) -> dict[str, np.ndarray]:
    directory.mkdir()
    np.save(directory / "rows.npy", rows)
    command = forked.python("-m", "tensorflow.python.tools.saved_model_cli", "run")
    command += ["--dir", path, "--tag_set", "serve", "--signature_def", "serving_default"]
    command += ["--inputs", f"x={directory / 'rows.npy'}", "--outdir", str(directory / "out")]
    run_process(command, cwd=directory, timeout=300)
    return {file.stem: np.load(file) for file in (directory / "out").glob("*.npy")}
