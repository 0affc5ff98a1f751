"""A model for TensorFlow.js, computed by it in Node, and its weights.

tensorflowjs would replace TensorFlow by an older version, so it is installed into an environment of
its own, as docs/exports.md tells users.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from processes import run_process
from tiers import of_commit

import estimator_train as est

INSTALL_SECS = 900
PACKAGES = ["tensorflowjs==4.22.0", "ydf<0.14"]
PROGRAM = """
const tf = require('@tensorflow/tfjs');
const fs = require('fs');
const [folder, values] = process.argv.slice(2);

(async () => {
  const model = JSON.parse(fs.readFileSync(`${folder}/model.json`));
  const paths = model.weightsManifest.flatMap(group => group.paths);
  const bytes = Buffer.concat(paths.map(path => fs.readFileSync(`${folder}/${path}`)));
  const graph = await tf.loadGraphModel(tf.io.fromMemory({
    modelTopology: model.modelTopology,
    signature: model.signature,
    weightSpecs: model.weightsManifest.flatMap(group => group.weights),
    weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
  }));
  const {inputs, outputs} = model.signature;
  const x = tf.tensor2d(JSON.parse(values));
  const found = graph.execute({[inputs.x.name]: x}, outputs.predictions.name);
  console.log(JSON.stringify(Array.from(found.dataSync())));
})();
"""


def make_input_fn() -> Callable[[], Any]:
    x = np.random.default_rng(4).normal(size=[50, 2]).astype(np.float32)
    labels = x.sum(1, keepdims=True)
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": x}, labels)).batch(50)


def install(folder: Path) -> Path:
    """Installs tensorflowjs into a new environment and returns its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run_process([python, "-m", "pip", "install", "--quiet", *PACKAGES], timeout=INSTALL_SECS)
    return python


def read_weights(folder: Path) -> list[np.ndarray]:
    """Returns the weights of a model of TensorFlow.js."""
    weights = []
    for group in json.loads((folder / "model.json").read_text())["weightsManifest"]:
        content = b"".join((folder / path).read_bytes() for path in group["paths"])
        for entry in group["weights"]:
            array = np.frombuffer(content, entry["dtype"], int(np.prod(entry["shape"])))
            weights.append(array.reshape(entry["shape"]))
            content = content[array.nbytes :]
        assert not content
    return weights


def check_conversion(tmp_path: Path) -> None:
    input_fn = make_input_fn()
    columns = [tf.feature_column.numeric_column("x", shape=2)]
    estimator = est.DNNRegressor([4], columns, str(tmp_path / "model"))
    estimator.train(lambda: input_fn().repeat(), steps=20)
    out = tmp_path / "out"
    # Its three gigabytes are removed at once.
    with tempfile.TemporaryDirectory() as folder:
        python = str(install(Path(folder)))
        result = est.export.convert(estimator, out, input_fn, to="tfjs", converter_python=python)
    assert result.rows == 0  # The rows are computed below, in Node.
    weights = read_weights(out)
    reader = tf.train.load_checkpoint(estimator.latest_checkpoint())
    for layer in ("hiddenlayer_0", "logits"):
        for name in ("kernel", "bias"):
            value = reader.get_tensor(f"dnn/{layer}/{name}")
            assert any(np.array_equal(value, weight) for weight in weights), (layer, name)
    (features, _) = next(iter(input_fn().as_numpy_iterator()))
    expected = [row["predictions"][0] for row in estimator.predict(input_fn)]
    np.testing.assert_allclose(run_in_node(out, features["x"]), expected, rtol=1e-5, atol=1e-5)


def run_in_node(model: Path, x: np.ndarray) -> list[float]:
    """Returns the predictions that TensorFlow.js computes."""
    if not (shutil.which("npm") and shutil.which("node")):
        pytest.skip("needs node and npm, which install TensorFlow.js: apt-get install nodejs npm")
    packages = model.parent / "packages"
    packages.mkdir()
    options = ["--no-audit", "--no-fund", "--prefix", packages]
    run_process(["npm", "install", *options, "@tensorflow/tfjs@4.22.0"], timeout=INSTALL_SECS)
    (packages / "predict.js").write_text(PROGRAM)
    done = run_process(["node", packages / "predict.js", model, json.dumps(x.tolist())])
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


# The installation takes minutes, so one commit in four tests it.
if 0 in of_commit(4, range(4)):
    _mark = pytest.mark.timeout(INSTALL_SECS + 400)
    test_a_regressor_computes_the_same_in_javascript = _mark(pytest.mark.long(check_conversion))
