"""Odd values for recurrent networks: units, cells, columns, features, heads."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

import canned_rnn
import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import Names, made, odd, old_loops
from breadth.odd_values import OPTIMIZERS
from canned_figures import FixedValues
from jobs import Api

tf1 = tf.compat.v1
fc = tf.feature_column


def _recurrent(kind: str = "RNNClassifier", **arguments: Callable[[Api], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        given = {
            "sequence_feature_columns": lambda api: canned_rnn.columns(),
            **({} if "rnn_cell_fn" in arguments else {"units": lambda api: [3]}),
            "return_sequences": lambda api: True,
            **({"n_classes": lambda api: 3} if kind == "RNNClassifier" else {}),
            **arguments,
        }
        values = {name: make(api) for name, make in given.items()}
        features = values.pop("features", None)

        def input_fn() -> Any:
            found, labels = canned_rnn.of_steps()
            found = found if features is None else features(found)
            return found, labels

        with old_loops():
            estimator = made(api, directory, kind, **values)
            estimator.train(input_fn, hooks=[FixedValues()], steps=1)
            found = estimator.evaluate(input_fn, steps=1)
            row = next(iter(estimator.predict(input_fn)))
        return [
            {key: float(value) for key, value in sorted(found.items())},
            sorted(row),
            sorted(estimator.get_variable_names()),
        ]

    return ask


def _cells(api: Api) -> Any:
    return api.keras.layers


RECURRENT: dict[str, dict[str, Callable[[Api], Any]]] = {
    "units: tuple": {"units": lambda api: (3, 2)},
    "units: array": {"units": lambda api: np.array([3, 2])},
    "units: generator": {"units": lambda api: (size for size in (3, 2))},
    "units: a number": {"units": lambda api: 3},
    "units: floats": {"units": lambda api: [3.0]},
    "units: a string": {"units": lambda api: "3"},
    "units: strings": {"units": lambda api: ["3"]},
    "units: none of them": {"units": lambda api: []},
    "units: None": {"units": lambda api: None},
    "units: a dict": {"units": lambda api: {3: "a"}},
    "cell: class": {"cell_type": lambda api: _cells(api).GRUCell},
    "cell: subclass": {"cell_type": lambda api: type("Mine", (_cells(api).GRUCell,), {})},
    "cell: function": {"cell_type": lambda api: lambda units: _cells(api).GRUCell(units)},
    "cell: partial": {
        "cell_type": lambda api: functools.partial(_cells(api).SimpleRNNCell, activation="relu")
    },
    "cell: capitals": {"cell_type": lambda api: "LSTM"},
    "cell: a str of NumPy": {"cell_type": lambda api: np.str_("gru")},
    "cell: None": {"cell_type": lambda api: None},
    "cell: a number": {"cell_type": lambda api: 3},
    "cell: a list": {"cell_type": lambda api: ["gru"]},
    "cell: a layer": {"cell_type": lambda api: _cells(api).GRU},
    "function": {"rnn_cell_fn": lambda api: lambda: _cells(api).GRUCell(3)},
    "function: a list": {
        "rnn_cell_fn": lambda api: lambda: [_cells(api).GRUCell(3), _cells(api).GRUCell(2)]
    },
    "function: a tuple": {
        "rnn_cell_fn": lambda api: lambda: (_cells(api).GRUCell(3), _cells(api).GRUCell(2))
    },
    "function: stacked": {
        "rnn_cell_fn": lambda api: lambda: _cells(api).StackedRNNCells([_cells(api).GRUCell(3)])
    },
    "function: partial": {"rnn_cell_fn": lambda api: functools.partial(_cells(api).LSTMCell, 3)},
    "function: an object": {
        "rnn_cell_fn": lambda api: type(
            "Cells", (), {"__call__": lambda s: _cells(api).GRUCell(3)}
        )()
    },
    "function: None": {"rnn_cell_fn": lambda api: lambda: None},
    "function: with units": {
        "rnn_cell_fn": lambda api: lambda: _cells(api).GRUCell(3),
        "units": lambda api: [3],
    },
    "function: with a cell": {
        "rnn_cell_fn": lambda api: lambda: _cells(api).GRUCell(3),
        "cell_type": lambda api: "gru",
    },
    "function: a cell": {"rnn_cell_fn": lambda api: _cells(api).GRUCell(3)},
    "columns: one": {"sequence_feature_columns": lambda api: fc.sequence_numeric_column("sizes")},
    "columns: tuple": {"sequence_feature_columns": lambda api: tuple(canned_rnn.columns())},
    "columns: generator": {"sequence_feature_columns": lambda api: iter(canned_rnn.columns())},
    "columns: no sequence": {"sequence_feature_columns": lambda api: [fc.numeric_column("age")]},
    "columns: of words": {
        "sequence_feature_columns": lambda api: [
            fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b"])
        ]
    },
    "columns: indicator": {
        "sequence_feature_columns": lambda api: [
            fc.indicator_column(
                fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b"])
            )
        ]
    },
    "columns: none of them": {"sequence_feature_columns": lambda api: []},
    "context: list": {"context_feature_columns": lambda api: canned_rnn.context_columns()},
    "context: one": {"context_feature_columns": lambda api: canned_rnn.context_columns()[0]},
    "context: tuple": {"context_feature_columns": lambda api: tuple(canned_rnn.context_columns())},
    "context: generator": {
        "context_feature_columns": lambda api: iter(canned_rnn.context_columns())
    },
    "context: none of them": {"context_feature_columns": lambda api: []},
    "context: of words": {
        "context_feature_columns": lambda api: [
            fc.categorical_column_with_vocabulary_list("words", ["a", "b"])
        ]
    },
    "features: OrderedDict": {"features": lambda api: collections.OrderedDict},
    "features: own mapping": {"features": lambda api: Names},
    "features: UserDict": {"features": lambda api: collections.UserDict},
    "features: a tensor": {"features": lambda api: lambda found: found["age"]},
    "features: ragged": {
        "features": lambda api: (
            lambda found: {
                **found,
                "words": tf.RaggedTensor.from_sparse(found["words"]),
            }
        )
    },
    "features: dense": {
        "features": lambda api: (
            lambda found: {
                **found,
                "words": tf.sparse.to_dense(found["words"]),
                "sizes": tf.sparse.to_dense(found["sizes"]),
            }
        )
    },
    "steps: 1": {"return_sequences": lambda api: 1},
}
odd("RNNClassifier", {k: _recurrent(**v) for k, v in RECURRENT.items()}, ("v2",))
odd(
    "RNNClassifier.optimizer",
    {
        kind: _recurrent(optimizer=OPTIMIZERS[kind])
        for kind in ("class", "clipped", "delegates", "None", "schedule", "subclass of v1")
    },
    ("v2",),
)
HEADS: dict[str, Callable[[Api], Any]] = {
    "of steps": lambda api: canned_rnn._of_steps(api.estimator.MultiClassHead(3)),
    "delegates": lambda api: Delegate(canned_rnn._of_steps(api.estimator.MultiClassHead(3))),
    "subclass": lambda api: _subclass_of(canned_rnn._of_steps(api.estimator.MultiClassHead(3))),
    "of no steps": lambda api: api.estimator.MultiClassHead(3),
}
odd("RNNEstimator.head", {k: _recurrent("RNNEstimator", head=v) for k, v in HEADS.items()}, ("v2",))
