"""Results, errors and messages are those of the original, case by case."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import all_cases
import pytest
import tiers
from alike import assert_alike, assert_lines_in_order, leaf_pairs, without_early_graph
from flavours import ours
from outcomes import recorded
from processes import run_process

from estimator_train.engine.graph.step_graph import MissingFeaturesError
from estimator_train.engine.run.failures import NanLossError
from estimator_train.engine.run.predict import ScalarPredictionError
from estimator_train.export.receivers import ExampleError
from estimator_train.keras.family import NotAModelError
from estimator_train.keras.model_io import FormattedKeyError, MissingLabelsError
from estimator_train.keras.model_to_estimator import RemotePathError

GOLDEN = recorded("behaviour")
# Some results are the texts of floats.
FLOAT = re.compile(r"\d+\.\d+")
PLACES = ("oracle", "support", "conformance")
# Our errors with clearer texts: the class and a part of the text.
CLEARER = {
    "input_fn_returns_none": (
        MissingFeaturesError,
        "input_fn returned None, and",
    ),
    "predict_with_input_fn_that_returns_none": (
        MissingFeaturesError,
        "input_fn returned None, and",
    ),
    "predict_a_scalar": (
        ScalarPredictionError,
        "The prediction has no batch dimension",
    ),
    "predict_a_scalar_beside_rows": (
        ScalarPredictionError,
        "Prediction 'b' has no batch dimension",
    ),
    "receiver_raw_of_tensor": (ExampleError, "must be a dict"),
    "export_before_training_from_a_warm_start_without_checkpoint": (
        ValueError,
        "Couldn't find trained model at",
    ),
    "keras_export_outputs_of_an_unknown_name": (FormattedKeyError, "Missed keys: {'no'}"),
    "keras_features_with_more_columns": (ValueError, "it returned {'x': <tf.Tensor"),
    # Where the original looks for a TPU first, ours looks at the arguments.
    "tpu_evaluate_without_batch_size": (ValueError, "eval_batch_size in TPUEstimator"),
    "tpu_predict_without_batch_size": (ValueError, "if .predict is running on TPU."),
    "tpu_train_of_float_steps": (TypeError, "steps must be int, got <class 'float'>"),
    "tpu_train_of_text_steps": (TypeError, "steps must be int, got <class 'str'>"),
    "tpu_train_of_text_max_steps": (TypeError, "max_steps must be int, got <class 'str'>"),
    "tpu_train_without_params": (ValueError, "does not include params argument"),
    "train_with_nan_loss": (NanLossError, "NaN loss during training."),
    "keras_train_without_labels": (MissingLabelsError, "input_fn returned no labels"),
    "keras_with_model_of_wrong_type": (NotAModelError, "keras_model must be a tf_keras Model"),
    "keras_with_remote_path": (RemotePathError, "'gs://bucket/a.h5' is on Google Cloud Storage"),
    # The texts of the original are Python's own, and changed with its version.
    "input_fn_is_none": (TypeError, "not a callable"),
    "input_fn_is_not_callable": (TypeError, "not a callable"),
    "input_fn_is_a_dataset": (TypeError, "not a callable"),
}
# Where the original fails, ours works.
_FLAT = {
    "loss": 3.3965532779693604,
    "predictions": {"dense": [[-1.559107], [0.88014275], [-1.473233], [1.9518077]]},
}
WORKS = {
    "predict_on_features_named_by_int_and_str": [
        8.688603,
        0.21868777,
        9.357074,
        9.582061,
        2.0157719,
        11.433288,
        -0.5148889,
        7.6748838,
    ],
    # Pictures for a model of rows, as Flatten returns them.
    "keras_features_of_pictures_into_dense": _FLAT,
    "keras_features_of_pictures_with_channel": _FLAT,
    "keras_pictures_into_dense_with_an_input_shape": [
        [-1.7778444290161133],
        [0.6813353300094604],
        [-1.5926071405410767],
        [2.0109477043151855],
    ],
    "keras_from_config_that_pops_from_a_list": [[9.08625602722168, 7.006932258605957], 8],
    "spec_with_an_export_output_of_another_kind": "Mine",
    "keras_with_optimizer_of_a_new_kind": {
        "global_step": ["int64", 2.0],
        "loss": ["float32", 5.919932],
    },
    "predict_while_another_prediction_is_open": [True] * 8,
    "receiver_raw_of_arrays": {
        "features": {"a": ["Placeholder:0", "float32", "(None, 2)"]},
        "receiver_tensors": {"a": ["Placeholder:0", "float32", "(None, 2)"]},
    },
}


def _flavours(name: str) -> list[str]:
    """Returns both API versions if the recorded answers may differ, otherwise v2 alone."""
    return ["v2"] if "both" in GOLDEN[name] else ["v2", "v1"]


PAIRS = [(name, flavour) for name in sorted(GOLDEN) for flavour in _flavours(name)]


@pytest.mark.parametrize("name", CLEARER)
def test_a_clearer_error_has_the_recorded_type(name: str) -> None:
    recorded_error = (GOLDEN[name].get("both") or GOLDEN[name]["v2"])["error"][0]
    error = CLEARER[name][0]
    if recorded_error == "RuntimeError":
        assert name.startswith("tpu_")  # The original looks for a TPU first.
    else:
        assert recorded_error in [cls.__name__ for cls in error.__mro__]


@pytest.mark.parametrize(("name", "flavour"), tiers.every(24, PAIRS, of=3))
def test_behaves_as_recorded(name: str, flavour: str) -> None:
    expected = GOLDEN[name].get("both") or GOLDEN[name][flavour]
    seen = all_cases.observe(all_cases.CASES[name], ours()[flavour])
    assert_is_as_expected(name, seen, expected)


def assert_is_as_expected(name: str, seen: dict[str, Any], expected: dict[str, Any]) -> None:
    if name in CLEARER:
        error, text = CLEARER[name]
        expected = {"error": [error.__name__, text], "log": []}
    elif name in WORKS:
        expected = {"result": WORKS[name], "log": []}
    elif name.startswith("events_"):
        expected = {**expected, "result": without_early_graph(expected["result"])}
    if "error" in expected:
        assert "error" in seen, f"no error, but {seen['result']}"
        assert_says(seen["error"], *expected["error"])
    else:
        assert "error" not in seen, seen["error"]
        for place, one, other in leaf_pairs(seen["result"], expected["result"]):
            if isinstance(other, str) and FLOAT.fullmatch(other):
                assert FLOAT.fullmatch(one), place
                assert_alike(float(one), float(other), place, abs=1e-6)
            else:
                assert_alike(one, other, place, abs=1e-6)
    assert_lines_in_order(seen["log"], expected["log"])


# After `disable_v2_behavior()`.
DIFFERENT_WITHOUT_V2 = {
    # It works here.
    "keras_wide_and_deep_with_two_optimizers",
    # tf_keras cannot compile a model with one any more.
    "keras_with_optimizer_of_a_new_kind",
    # TensorFlow prints sizes that are not known in another way.
    "receiver_raw_of_arrays",
    # The error is of a class derived from the original's.
    "train_on_a_checkpoint_of_another_shape",
}


@pytest.mark.long
def test_behaves_as_recorded_under_tensorflow_1_behaviour(tmp_path: Path) -> None:
    path = os.pathsep.join(str(Path(__file__).parents[1] / name) for name in PLACES)
    asks = Path(__file__).with_name("ask_without_v2.py")
    environment = {**os.environ, "PYTHONPATH": path}
    golden = recorded("behaviour_without_v2")
    cases = tiers.sampled(4, golden)
    command = [sys.executable, asks, tmp_path / "out", *cases]
    run_process(command, env=environment)
    seen = json.loads((tmp_path / "out").read_text(encoding="utf-8"))
    different = {name for name in cases if not _is_as_recorded(name, seen[name], golden[name])}
    assert different == DIFFERENT_WITHOUT_V2.intersection(cases)


def _is_as_recorded(name: str, seen: dict[str, Any], expected: dict[str, Any]) -> bool:
    # A read of a reference variable may come before or after its update.
    log = [line for line in expected["log"] if not line.startswith("INFO loss = ")]
    try:
        assert_is_as_expected(name, seen, {**expected, "log": log})
    except AssertionError:
        return False
    return True


def assert_says(seen: list[str], error: str, text: str) -> None:
    """Checks an error's type, and that its message contains the text.

    TensorFlow's additions to an error of a graph differ between versions: there, only the line with
    the reason is compared.
    """
    assert seen[0] == error, seen
    if "Graph execution error:" in text:
        assert any(line in seen[1] for line in _reasons(text)), seen
    else:
        assert text in seen[1]


def _reasons(text: str) -> list[str]:
    added = ("Graph execution error", "Detected at", "Node:", "Original stack", "\t", " ")
    lines = text.partition("Graph execution error:")[2].splitlines()
    return [line for line in lines if line and not line.startswith(added)]
