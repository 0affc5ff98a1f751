"""Recurrent estimators, against figures of the original and against tf_keras.

These tests cover `canned/rnn.py`.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import canned_rnn
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from canned_figures import observe
from outcomes import recorded

import estimator_train as est
from tests.canned.test_canned_figures import V2, assert_figures_alike

RNNClassifier = est.experimental.RNNClassifier


@pytest.mark.parametrize("name", tiers.first({"lstm"}, canned_rnn.CASES))
def test_classifiers_of_steps_equal_the_recorded_ones(name: str) -> None:
    ours = json.loads(json.dumps(observe(canned_rnn.CASES[name], V2)))
    assert_figures_alike(ours, recorded("canned_rnn")[name])


@pytest.mark.parametrize("cell_type", tiers.first({"gru"}, canned_rnn.SEEDED))
def test_the_seed_of_keras_gives_the_recorded_initial_values(cell_type: str) -> None:
    expected = recorded("canned_rnn_seeded")[cell_type]
    ours = canned_rnn.initial_values(cell_type, V2)
    assert ours.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(ours[name], values, rtol=1e-6, err_msg=name)


def of_sequences() -> Any:
    return canned_rnn.features(), tf.constant([0, 1, 0, 1])


@pytest.mark.long
def test_a_classifier_of_sequences_learns_continues_and_exports(tmp_path: Path) -> None:
    def made() -> Any:
        return RNNClassifier(
            canned_rnn.columns(),
            units=[8],
            cell_type="lstm",
            optimizer=lambda: tf_keras.optimizers.legacy.Adam(0.05),
            model_dir=str(tmp_path / "model"),
        )

    made().train(of_sequences, steps=40)
    estimator = made().train(of_sequences, steps=40)
    result = estimator.evaluate(of_sequences, steps=1)
    assert result["accuracy"] == 1.0
    assert result["global_step"] == 80
    spec = tf.feature_column.make_parse_example_spec(canned_rnn.columns())
    receiver = est.export.build_parsing_serving_input_receiver_fn(spec)
    path = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    example = tf.train.Example()
    example.features.feature["words"].bytes_list.value.extend([b"a", b"b", b"c", b"d"])
    example.features.feature["sizes"].float_list.value.extend([0.5, 1.0, 1.5, 2.0])
    serve = tf.saved_model.load(path.decode()).signatures["predict"]
    served = serve(tf.constant([example.SerializeToString()]))["probabilities"]
    predicted = next(estimator.predict(lambda: canned_rnn.features()))["probabilities"]
    np.testing.assert_allclose(served[0], predicted, rtol=1e-5)


@pytest.mark.long
def test_the_last_output_before_the_padding_counts() -> None:
    cell = tf_keras.layers.SimpleRNNCell
    estimator = RNNClassifier(canned_rnn.columns(), rnn_cell_fn=lambda: [cell(3), cell(2)])
    estimator.train(of_sequences, steps=1)
    value = estimator.get_variable_value
    words = value("sequence_features/words_embedding/embedding_weights")
    x = np.concatenate([[[0.5]], words[[2]]], axis=1)  # the second example: one step, word c
    for name in ("simple_rnn_cell", "simple_rnn_cell_1"):
        prefix = f"rnn_model/rnn/stacked_rnn_cells/{name}"
        x = np.tanh(x @ value(f"{prefix}/kernel") + value(f"{prefix}/bias"))
    logits = x @ value("rnn_model/logits/kernel") + value("rnn_model/logits/bias")
    rows = list(itertools.islice(estimator.predict(lambda: canned_rnn.features()), 2))
    np.testing.assert_allclose(rows[1]["logits"], logits[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"units": [2], "rnn_cell_fn": lambda: None}, "units and cell_type must not be specified"),
        ({"cell_type": "lstm", "rnn_cell_fn": lambda: None}, "must not be specified when using"),
        ({}, "or rnn_cell_fn must be given"),
        ({"units": 3}, "units must be a list"),
        (
            {"units": [3], "cell_type": "foo"},
            "Supported strings are: ['simple_rnn', 'lstm'",
        ),
    ],
)
def test_contradictory_arguments_raise_errors_in_the_constructor(
    arguments: dict[str, Any], text: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        RNNClassifier(canned_rnn.columns(), **arguments)


def test_logits_of_steps_need_a_sequential_head() -> None:
    with pytest.raises(ValueError, match="Provided head must be a `_SequentialHead` object"):
        est.experimental.RNNEstimator(
            est.BinaryClassHead(), canned_rnn.columns(), units=[2], return_sequences=True
        )


def test_a_column_without_sequences_is_refused() -> None:
    estimator = RNNClassifier(canned_rnn.context_columns(), units=[2])
    with pytest.raises(ValueError, match="SequenceDenseColumn"):
        estimator.train(of_sequences, steps=1)
