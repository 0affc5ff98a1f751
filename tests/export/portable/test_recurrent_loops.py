"""Recurrent layers in loops without lists of tensors, which other runtimes can run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers

from estimator_train.engine.portability import without_tensor_lists
from estimator_train.export.portable import encoder

v1 = tf.compat.v1
layers = tf_keras.layers
CASES: dict[str, Callable[[], Any]] = {
    "lstm": lambda: layers.LSTM(5),
    "gru with all outputs": lambda: layers.GRU(5, return_sequences=True),
    "both directions": lambda: layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
    "cells": lambda: layers.RNN([layers.LSTMCell(5), layers.GRUCell(3)], return_sequences=True),
    "states": lambda: layers.LSTM(3, return_state=True),
    "zeros": lambda: layers.RNN(
        layers.SimpleRNNCell(3), return_sequences=True, zero_output_for_mask=True
    ),
}


@pytest.mark.parametrize("masked", tiers.first({True}, [True, False]))
@pytest.mark.parametrize("name", tiers.every(2, CASES))
def test_loops_give_the_results_of_keras(name: str, masked: bool) -> None:
    x = np.random.default_rng(0).normal(size=[4, 6, 3]).astype(np.float32)
    lengths = [6, 2, 0, 4]
    with tf.Graph().as_default() as graph, v1.Session() as session:
        given = v1.placeholder(tf.float32, [None, None, 3])
        mask = tf.sequence_mask(lengths, 6) if masked else None
        layer = CASES[name]()
        wanted = layer(given, mask=mask)
        before = len(graph.get_operations())
        with without_tensor_lists():
            found = layer(given, mask=mask)
        added = {node.op for node in graph.as_graph_def().node[before:]}
        # Gradients add empty lists, which an export leaves out.
        assert "While" in added
        assert "TensorListReserve" not in added
        session.run(v1.global_variables_initializer())
        wanted, found = session.run([wanted, found], {given: x})
    for a, b in zip(tf.nest.flatten(wanted), tf.nest.flatten(found), strict=True):
        np.testing.assert_allclose(b, a, atol=1e-6)
    assert tf_keras.src.backend.rnn.__module__.startswith("tf_keras.")


def test_sequences_keep_the_places_of_unknown_and_missing_words() -> None:
    column = {"kind": "vocabulary", "feature": "word", "dtype": "string", "vocabulary": ["a", "b"]}
    entry = {"kind": "ids", "name": "word", "sequence": True}
    description = {"inputs": [{**entry, "column": {**column, "oov_buckets": 0, "default": -1}}]}
    encode = encoder.Encoder(description).encode
    words = np.array([["b", "x", "", "a", ""], ["", "", "", "", ""], ["a"] * 5], object)
    wanted = [[1, -1, -1, 0, -2], [-2] * 5, [0] * 5]
    assert encode({"word": words})["word"].tolist() == wanted
    assert encode({"word": [["b", "x"], [], [b"a"]]})["word"].tolist() == [
        [1, -1],
        [-2, -2],
        [0, -2],
    ]
    assert encode({"word": ["b", ""]})["word"].tolist() == [[1], [-2]]
