"""A dry run does a little of everything, elsewhere, and fails as the job would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tiers
from job_cases import estimator, noting_exporter, once
from jobs import tiny_input, tiny_receiver

import estimator_train as et
from estimator_train.estimator.dry_run import dry_run
from estimator_train.training.exporters import BestExporter, FinalExporter
from estimator_train.training.specs import EvalSpec, TrainSpec
from tests.training.our_names import OURS

TRAIN = TrainSpec(tiny_input, max_steps=10**6)


def parsing_receiver(name: str) -> Any:
    """Returns a receiver of serialized examples whose feature `name` is the model's x."""
    spec = {name: tf.io.FixedLenFeature([2], tf.float32)}
    parse = et.export.build_parsing_serving_input_receiver_fn(spec)

    def receiver() -> Any:
        parsed = parse()
        features = {"x": parsed.features[name]}
        return et.export.ServingInputReceiver(features, parsed.receiver_tensors)

    return receiver


def raw_receiver() -> Any:
    """Returns the features of a placeholder that has another name than the only feature."""
    rows = tf.compat.v1.placeholder(tf.float32, [None, 2])
    return et.export.ServingInputReceiver({"x": rows}, {"rows": rows})


@pytest.mark.parametrize(
    "receiver", tiers.every(3, [tiny_receiver(OURS), parsing_receiver("x"), raw_receiver])
)
def test_all_parts_run_and_no_file_is_left_in_model_dir(tmp_path: Path, receiver: Any) -> None:
    job = estimator(OURS, str(tmp_path / "m"))
    calls: list[Any] = []
    exporters = [noting_exporter(OURS, calls), FinalExporter("final", receiver)]
    specs = [EvalSpec(once, exporters=exporters), EvalSpec(once, name="other")]
    seen = dry_run(job, TRAIN, specs)
    assert seen.global_step == 2
    assert (
        sorted(seen.metrics[None])
        == sorted(seen.metrics["other"])
        == [
            "global_step",
            "loss",
            "mae",
        ]
    )
    assert seen.exports == ["final"]
    assert calls[0][3]
    assert not (tmp_path / "m").exists()
    trained = estimator(OURS, str(tmp_path / "really")).train(tiny_input, steps=2)
    expected = next(trained.predict(once))
    np.testing.assert_allclose(seen.prediction["score"], [expected["score"]], rtol=1e-5)


def test_an_export_without_default_signature_serves_another(tmp_path: Path) -> None:
    # A default signature that classifies takes a single tensor of strings.
    columns = [tf.feature_column.numeric_column(name) for name in "xy"]
    classifier = et.LinearClassifier(columns, str(tmp_path))

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors(({"x": [[1.0]], "y": [[2.0]]}, [[1]])).repeat()

    features = {name: tf.TensorSpec([None, 1], tf.float32) for name in "xy"}
    receiver = et.export.build_raw_serving_input_receiver_fn(features)
    spec = EvalSpec(input_fn, steps=1, exporters=FinalExporter("final", receiver))
    seen = dry_run(classifier, TrainSpec(input_fn, max_steps=9), spec)
    assert seen.prediction["probabilities"].shape == (1, 2)


def test_an_evaluation_has_the_directory_of_its_name(tmp_path: Path) -> None:
    found: list[str] = []

    class ListingExporter(et.Exporter):
        name = "listing"

        def export(self, estimator: Any, *arguments: Any, **others: Any) -> None:
            found.extend(path.name for path in Path(estimator.model_dir).glob("eval*"))

    spec = EvalSpec(once, name="other", exporters=ListingExporter())
    dry_run(estimator(OURS, str(tmp_path)), TRAIN, spec)
    assert found == ["eval_other"]


def number_receiver() -> Any:
    """Returns numbers under the name of a feature with strings."""
    rows = tf.compat.v1.placeholder(tf.float32, [None, 2])
    return et.export.ServingInputReceiver({"x": rows}, {"name": rows})


def sparse_receiver() -> Any:
    """Returns the features of sparse strings."""
    words = tf.compat.v1.sparse_placeholder(tf.string)
    rows = tf.strings.to_number(tf.sparse.to_dense(words, "0"))
    return et.export.ServingInputReceiver({"x": tf.reshape(rows, [-1, 2])}, {"words": words})


def named() -> tf.data.Dataset:
    """Returns the data of `once` with a feature of strings."""
    return once().map(lambda x, y: ({**x, "name": tf.strings.join(["n", tf.as_string(x["x"])])}, y))


@pytest.mark.parametrize(
    "receiver", tiers.every(3, [parsing_receiver("y"), number_receiver, sparse_receiver])
)
def test_a_request_that_cannot_be_made_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, receiver: Any
) -> None:
    exporter = BestExporter("best", receiver)
    seen = dry_run(estimator(OURS, str(tmp_path)), TRAIN, EvalSpec(named, exporters=exporter))
    assert seen.exports == ["best"]
    assert seen.prediction is None
    assert "no prediction was served" in caplog.text


def test_a_serialized_request_may_end_with_zero_bytes(tmp_path: Path) -> None:
    zeros = EvalSpec(
        lambda: once().map(lambda x, y: ({"x": tf.zeros_like(x["x"])}, y)),
        exporters=FinalExporter("final", parsing_receiver("x")),
    )
    seen = dry_run(estimator(OURS, str(tmp_path)), TRAIN, zeros)
    np.testing.assert_array_equal(seen.prediction["score"], [0.0])


def test_without_exporters_nothing_is_served(tmp_path: Path) -> None:
    seen = dry_run(estimator(OURS, str(tmp_path)), TRAIN, EvalSpec(once))
    assert (seen.exports, seen.prediction) == ([], None)


def _evaluation_fails() -> EvalSpec:
    return EvalSpec(lambda: once().map(lambda x, y: ({"z": x["x"]}, y)))


@pytest.mark.parametrize(
    ("train", "evaluate", "error", "text"),
    [
        (TrainSpec(lambda: once().take(0)), EvalSpec(once), ValueError, "gives no data"),
        (TRAIN, _evaluation_fails(), KeyError, "x"),
        (TRAIN, EvalSpec(once, exporters=BestExporter()), ValueError, "An input_receiver_fn must"),
    ],
)
def test_a_dry_run_raises_the_error_of_the_job(
    tmp_path: Path, train: Any, evaluate: Any, error: type, text: str
) -> None:
    with pytest.raises(error, match=text):
        dry_run(estimator(OURS, str(tmp_path / "m")), train, evaluate)
    assert not (tmp_path / "m").exists()


def test_a_config_without_checkpoints_fails_as_the_job_would(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=None)
    with pytest.raises(ValueError, match="There should be a CheckpointSaverHook"):
        dry_run(job, TRAIN, EvalSpec(once))
