"""SavedModels and variables in other tools: Keras 3, saved_model_cli, re-saving, PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train import export

pytestmark = pytest.mark.long
fc = tf.feature_column
ROWS = {"x": np.float32([1, 2, 3]), "y": np.float32([3, 4, 0])}


def train(model_dir: Path, columns: list[Any], rows: dict[str, Any]) -> Any:
    estimator = est.DNNClassifier([4], columns, str(model_dir), n_classes=3)
    return estimator.train(lambda: tf.data.Dataset.from_tensors((rows, [0, 1, 2])))


@pytest.fixture
def numeric(tmp_path: Path) -> Any:
    return train(tmp_path / "model", [fc.numeric_column(name) for name in ROWS], ROWS)


@pytest.fixture
def saved(numeric: Any, tmp_path: Path) -> str:
    """Returns the path of a SavedModel with two inputs and the output `probabilities`."""
    specs = {name: tf.TensorSpec([None], tf.float32) for name in ROWS}
    receiver_fn = export.build_raw_serving_input_receiver_fn(specs)
    path = numeric.export_saved_model(tmp_path / "saved", receiver_fn, outputs=["probabilities"])
    return os.fsdecode(path)


def predict(estimator: Any) -> np.ndarray:
    rows = tf.data.Dataset.from_tensors
    return np.array([p["probabilities"] for p in estimator.predict(lambda: rows(ROWS))])


def test_a_keras_3_layer_takes_several_inputs(saved: str, numeric: Any) -> None:
    import keras

    class SavedModelLayer(keras.layers.TFSMLayer):
        def call(self, inputs, training=False, **kwargs):
            return self.call_endpoint_fn(**inputs)

    inputs = {name: keras.Input([], name=name) for name in ROWS}
    layer = SavedModelLayer(saved, call_endpoint="serving_default")
    model = keras.Model(inputs, layer(inputs))
    found = model.predict(ROWS, verbose=0)["probabilities"]
    np.testing.assert_allclose(found, predict(numeric), atol=1e-6)


def test_a_loaded_model_keeps_signatures_only_if_they_are_passed(
    saved: str, tmp_path: Path
) -> None:
    loaded = tf.saved_model.load(saved)
    for name, options in {"lost": {}, "kept": {"signatures": dict(loaded.signatures)}}.items():
        tf.saved_model.save(loaded, str(tmp_path / name), **options)
        found = tf.saved_model.load(str(tmp_path / name)).signatures
        assert list(found) == (["serving_default"] if name == "kept" else [])


def test_saved_model_cli_takes_strings(tmp_path: Path) -> None:
    column = fc.embedding_column(fc.categorical_column_with_hash_bucket("word", 9), 2)
    estimator = train(tmp_path / "model", [column], {"word": ["a", "b", "c"]})
    specs = {"word": tf.TensorSpec([None], tf.string)}
    receiver_fn = export.build_raw_serving_input_receiver_fn(specs)
    path = estimator.export_saved_model(tmp_path / "saved", receiver_fn)
    program = "from tensorflow.python.tools.saved_model_cli import main; main()"
    arguments = ["run", "--dir", path, "--tag_set", "serve", "--signature_def", "predict"]
    arguments += ["--input_exprs", "word=['a', 'c']"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments, "--outdir", tmp_path / "out"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "out" / "probabilities.npy")
    wanted = [p["probabilities"] for p in estimator.predict(
        lambda: tf.data.Dataset.from_tensors({"word": ["a", "c"]})
    )]  # fmt: skip
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_variables_load_in_pytorch(numeric: Any, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import load_file

    file = str(tmp_path / "model.safetensors")
    export.write_variables(numeric.latest_checkpoint(), file, "safetensors")
    values = load_file(file)

    def make_layer(name: str) -> Any:
        kernel = values[f"{name}/kernel"]
        layer = torch.nn.Linear(*kernel.shape)
        layer.load_state_dict({"weight": kernel.T, "bias": values[f"{name}/bias"]})
        return layer

    hidden, logits = make_layer("dnn/hiddenlayer_0"), make_layer("dnn/logits")
    model = torch.nn.Sequential(hidden, torch.nn.ReLU(), logits, torch.nn.Softmax(1))
    found = model(torch.tensor(np.stack([ROWS["x"], ROWS["y"]], 1))).detach().numpy()
    np.testing.assert_allclose(found, predict(numeric), atol=1e-6)


def test_bfloat16_and_parts_load_in_pytorch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import load_file

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("half", [3], tf.bfloat16, initializer=v1.constant_initializer(1.5))
        parts = v1.fixed_size_partitioner(3)
        v1.get_variable("table", [7, 2], partitioner=parts, initializer=v1.ones_initializer())
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    export.write_variables(path, str(tmp_path / "out"), "safetensors")
    found = load_file(str(tmp_path / "out"))
    assert found["half"].dtype == torch.bfloat16
    assert found["half"].tolist() == [1.5] * 3
    assert found["table"].shape == (7, 2)
