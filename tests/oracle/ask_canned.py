"""What canned estimators do with optimizers and columns that were given, asked of both packages."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
fc = tf.feature_column
_Calls = dict[str, Callable[[], Any]]


def questions(v2_api: Any, v1_api: Any, keras: Any) -> _Calls:
    """Returns all questions by name.

    Args:
        v2_api: The module of v2 estimators.
        v1_api: The module of v1 estimators.
        keras: The module of Keras.
    """
    calls: _Calls = {}
    optimizers, dense_features = keras.optimizers.legacy, keras.layers.DenseFeatures
    good = {
        "v2": (v2_api, lambda: optimizers.SGD(0.1), v1.train.GradientDescentOptimizer),
        "v1": (v1_api, lambda: v1.train.GradientDescentOptimizer(0.1), optimizers.SGD),
    }
    for generation, (api, right, other) in good.items():
        wrong = {
            "a name": lambda: "foo",
            "a number": lambda: 3,
            "another generation": lambda o=other: o(0.1),
        }
        for kind, make in _kinds(api).items():
            for name, given in wrong.items():
                calls[f"{generation} {kind} with {name}, trained"] = lambda m=make, g=given: (
                    m(g()).train(data, steps=1) and None
                )
            calls[f"{generation} {kind} of a function"] = lambda m=make, r=right: _trained(m(r))
            for column in _given_columns():
                if kind != "Baseline":
                    calls[f"{generation} {kind}, {column}"] = lambda k=kind, a=api, c=column: _told(
                        a, k, c
                    )
        calls[f"{generation} linear without an optimizer"] = lambda a=api: _trained(
            a.LinearClassifier(numbers(), optimizer=None)
        )
        calls[f"{generation} of two classes by a number of another kind"] = lambda a=api: _trained(
            a.LinearClassifier(numbers(), n_classes=2.0)
        )
    for kind, make in _kinds(v2_api).items():
        calls[f"an object of the user's in {kind}"] = lambda m=make: _given_object(m, optimizers)
        calls[f"v2 {kind} with a wrong optimizer, not trained"] = lambda m=make, r=good["v2"][1]: (
            _not_trained(m, r)
        )
    for generation, api in (("v1", v1_api), ("v2", v2_api)):
        for kind in ("DNN", "deep part"):
            calls[f"{generation} {kind} with DenseFeatures.call replaced"] = lambda a=api, k=kind: (
                _calls_of_dense_features(_kinds(a)[k], dense_features)
            )
    calls["what a recurrent estimator is"] = lambda: _recurrent(v2_api)
    return calls


def data() -> Any:
    features = {"x": tf.constant([[1.0, 2.0], [3.0, 5.0]]), "id": tf.constant([[1], [2]])}
    return features, tf.constant([[1], [0]])


def numbers() -> list[Any]:
    return [fc.numeric_column("x", shape=2)]


def _kinds(api: Any) -> dict[str, Callable[..., Any]]:
    """Estimators by kind, of an optimizer."""
    return {
        "DNN": lambda o, c=numbers: api.DNNClassifier([2], c(), optimizer=o),
        "linear": lambda o, c=numbers: api.LinearClassifier(c(), optimizer=o),
        "Baseline": lambda o: api.BaselineClassifier(optimizer=o),
        "deep part": lambda o, c=numbers: api.DNNLinearCombinedClassifier(
            linear_feature_columns=numbers(),
            dnn_feature_columns=c(),
            dnn_hidden_units=[2],
            dnn_optimizer=o,
        ),
        "wide part": lambda o, c=numbers: api.DNNLinearCombinedClassifier(
            linear_feature_columns=c(),
            dnn_feature_columns=numbers(),
            dnn_hidden_units=[2],
            linear_optimizer=o,
        ),
    }


def _trained(estimator: Any) -> list[Any]:
    """Returns names and shapes of variables after a step."""
    estimator.train(data, steps=1)
    return [[name, list(shape)] for name, shape in tf.train.list_variables(estimator.model_dir)]


def _not_trained(make: Callable[..., Any], right: Callable[[], Any]) -> list[str]:
    """Evaluation and prediction with a checkpoint of another estimator."""
    path = make(right).train(data, steps=1).latest_checkpoint()
    estimator = make(3)
    result = estimator.evaluate(data, steps=1, checkpoint_path=path)
    rows = list(itertools.islice(estimator.predict(data, checkpoint_path=path), 2))
    return [sorted(result), sorted(rows[0])]


def _given_object(make: Callable[..., Any], optimizers: Any) -> list[Any]:
    """Returns the state of an optimizer without a learning rate, with a larger constructor."""

    class Own(optimizers.Optimizer):  # type: ignore[misc, name-defined]
        def __init__(self, speed: float) -> None:
            super().__init__("Own")
            self._speed = speed
            self.seen: list[str] = []

        def _create_slots(self, var_list: Any) -> None:
            for variable in var_list:
                self.add_slot(variable, "last")

        def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
            self.seen.append(var.name)
            slot = self.get_slot(var, "last")
            return tf.group(var.assign_sub(self._speed * grad), slot.assign(grad))

        def get_config(self) -> dict[str, Any]:
            return {"name": "Own"}

    own = Own(0.5)
    estimator = make(own)
    estimator.train(data, steps=2)
    return [
        sorted(own.seen),
        own.iterations.name,
        int(estimator.get_variable_value(own.iterations.name)),
        sorted(variable.name for variable in own.weights),
        sorted(name for name, _ in tf.train.list_variables(estimator.model_dir)),
    ]


def _given_columns() -> dict[str, Callable[[list[Any]], Any]]:
    """Columns of the user's own, which note how their method is called."""
    dense = tf.__internal__.feature_column.DenseColumn

    class Own(dense):  # type: ignore[misc, valid-type]
        name = "own"
        parse_example_spec: dict[str, Any] = {}  # noqa: RUF012
        variable_shape = tf.TensorShape([2])
        parents = ("x",)
        _is_v2_column = True

        def __init__(self, calls: list[Any]) -> None:
            self.calls = calls

        def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
            return transformation_cache.get("x", state_manager)

        def get_config(self) -> dict[str, Any]:
            return {}

        @classmethod
        def from_config(cls, *arguments: Any) -> Any:
            return cls([])

    class Told(Own):
        def get_dense_tensor(self, cache: Any, state: Any, training: Any = None) -> Any:
            self.calls.append(training)
            return cache.get("x", state)

    class Anything(Own):
        def get_dense_tensor(self, cache: Any, state: Any, **more: Any) -> Any:
            self.calls.append(more)
            return cache.get("x", state)

    class Nothing(Own):
        def get_dense_tensor(self, cache: Any, state: Any) -> Any:
            self.calls.append("called")
            return cache.get("x", state)

    plain = fc.embedding_column(fc.categorical_column_with_identity("id", 4), 2)

    class Embedding(type(plain)):  # type: ignore[misc]
        def get_dense_tensor(self, cache: Any, state: Any) -> Any:
            self.noted.append("called")
            return super().get_dense_tensor(cache, state) * 2.0

    def embedding(calls: list[Any]) -> Any:
        made = Embedding(*plain)
        made.noted = calls
        return made

    return {
        "a column that takes training": Told,
        "a column that takes anything": Anything,
        "a column that takes nothing": Nothing,
        "an embedding of the user's": embedding,
    }


def _told(api: Any, kind: str, column: str) -> list[Any]:
    calls: list[Any] = []
    made = _given_columns()[column](calls)
    optimizer = "Adagrad" if kind in ("DNN", "deep part") else "Ftrl"
    estimator = _kinds(api)[kind](optimizer, lambda: [made])
    estimator.train(data, steps=1)
    estimator.evaluate(data, steps=1)
    next(estimator.predict(data))
    return calls


def _calls_of_dense_features(make: Callable[..., Any], dense_features: Any) -> list[Any]:
    """Returns how a replaced `DenseFeatures.call` is called, and the trained variables."""
    original, calls = dense_features.call, []

    def call(self: Any, features: Any, *more: Any, **named: Any) -> Any:
        calls.append([sorted(features), list(more), named])
        return original(self, features, *more, **named)

    def columns() -> list[Any]:
        ids = fc.categorical_column_with_identity("id", 4)
        return [*numbers(), fc.embedding_column(ids, 2)]

    dense_features.call = call
    try:
        estimator = make("Adagrad", columns)
        estimator.train(data, steps=1)
        estimator.evaluate(data, steps=1)
        next(estimator.predict(data))
    finally:
        dense_features.call = original
    return [calls, sorted(estimator.get_variable_names())]


def _recurrent(api: Any) -> list[Any]:
    columns = [fc.sequence_numeric_column("x")]
    found = []
    for kind, more in (("RNNEstimator", {"head": api.BinaryClassHead()}), ("RNNClassifier", {})):
        estimator = getattr(api.experimental, kind)(
            sequence_feature_columns=columns, units=[2], **more
        )
        found.append(
            [isinstance(estimator, api.Estimator), hasattr(estimator, "export_savedmodel")]
        )
    return found
