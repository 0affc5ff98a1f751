"""Canned estimators of v2, as cases by name; and the cases that v1 has too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import canned_data
import tensorflow as tf
from canned_data import deep, shared, simple, wide
from canned_figures import Case
from jobs import Api


def cases() -> tuple[dict[str, Case], Callable[..., None]]:
    """Returns a new collection of cases, and the function that adds a case."""
    found: dict[str, Case] = {}

    def canned(
        name: str,
        kind: str,
        /,
        *,
        label: str = "label",
        columns: Any = wide,
        random: bool = False,
        tensors: bool = False,
        **arguments: Any,
    ) -> None:
        """Adds a case; arguments called `..._of` and `..._columns` are functions that make them.

        Where `tensors`, it gets one batch again and again, because the original cannot take a
        Dataset.
        """

        def build(api: Api, model_dir: str, config: Any) -> Any:
            made = {
                key.removesuffix("_of"): value(api) if key.endswith("_of") else value
                for key, value in arguments.items()
            }
            made |= {key: value() for key, value in made.items() if key.endswith("columns")}
            return getattr(api.estimator, kind)(model_dir=model_dir, config=config, **made)

        found[name] = Case(
            build,
            canned_data.input_fn(label, tensors=tensors),
            canned_data.input_fn(label, 40, 2, repeat=False, tensors=tensors),
            columns,
            2 if tensors else None,
            random,
        )

    return found, canned


_SHARED: list[tuple[str, str, dict[str, Any]]] = []


def _declare(name: str, kind: str, **arguments: Any) -> None:
    """Declares a case that v1 and v2 have."""
    _SHARED.append((name, kind, arguments))


def add_shared(canned: Callable[..., None], settings: dict[str, dict[str, Any]]) -> None:
    """Adds the cases that v1 and v2 have.

    Args:
      canned: The function that adds a case.
      settings: Further arguments of a generation, by the name of the case.
    """
    for name, kind, arguments in _SHARED:
        canned(name, kind, **arguments, **settings.get(name, {}))


def both() -> list[Any]:
    return [*wide(), *deep()]


def decayed_adam(api: Api) -> Any:
    """Returns a function that makes an optimizer whose rate follows the global step."""

    def make() -> Any:
        step = tf.compat.v1.train.get_or_create_global_step()
        rate = tf.compat.v1.train.exponential_decay(0.1, step, 5, 0.5)
        return api.keras.optimizers.legacy.Adam(learning_rate=rate)

    return make


_declare("linear classifier", "LinearClassifier", feature_columns=wide)
_declare(
    "linear regressor",
    "LinearRegressor",
    label="pair",
    feature_columns=wide,
    label_dimension=2,
    weight_column="weight",
    sparse_combiner="mean",
)
_declare(
    "linear classifier of names",
    "LinearClassifier",
    label="name",
    feature_columns=wide,
    n_classes=3,
    label_vocabulary=list(canned_data.NAMES),
    optimizer="Adam",
)
_declare(
    "linear estimator",
    "LinearEstimator",
    label="count",
    feature_columns=wide,
    sparse_combiner="sqrtn",
)
_declare("dnn classifier", "DNNClassifier", columns=deep, feature_columns=deep, hidden_units=[8, 4])
_declare(
    "dnn regressor",
    "DNNRegressor",
    label="number",
    columns=simple,
    feature_columns=simple,
    hidden_units=[6],
    activation_fn=tf.nn.tanh,
    optimizer="Adam",
    weight_column="weight",
)
_declare(
    "dnn with batch norm",
    "DNNClassifier",
    label="class",
    columns=simple,
    feature_columns=simple,
    hidden_units=[6, 5],
    n_classes=3,
    batch_norm=True,
)
_declare(
    "dnn with dropout",
    "DNNRegressor",
    label="pair",
    columns=simple,
    random=True,
    feature_columns=simple,
    hidden_units=[6],
    label_dimension=2,
    batch_norm=True,
    dropout=0.5,
    optimizer="RMSProp",
)
_declare(
    "dnn estimator",
    "DNNEstimator",
    columns=simple,
    feature_columns=simple,
    hidden_units=[6],
    optimizer="Ftrl",
)
_declare(
    "dnn with shared embeddings",
    "DNNClassifier",
    columns=shared,
    feature_columns=shared,
    hidden_units=[4],
    optimizer="Adagrad",
)
_declare(
    "combined classifier",
    "DNNLinearCombinedClassifier",
    columns=both,
    linear_feature_columns=wide,
    dnn_feature_columns=deep,
    dnn_hidden_units=[8, 4],
)
_declare(
    "combined regressor",
    "DNNLinearCombinedRegressor",
    label="pair",
    columns=both,
    linear_feature_columns=wide,
    dnn_feature_columns=simple,
    dnn_hidden_units=[8],
    label_dimension=2,
    batch_norm=True,
    linear_sparse_combiner="mean",
    linear_optimizer="SGD",
    dnn_optimizer="Adam",
)
_declare(
    "combined estimator",
    "DNNLinearCombinedEstimator",
    label="class",
    columns=both,
    linear_feature_columns=wide,
    dnn_feature_columns=simple,
    dnn_hidden_units=[8],
    head_of=lambda api: api.estimator.MultiClassHead(3, weight_column="weight"),
)
_declare("combined without dnn", "DNNLinearCombinedClassifier", linear_feature_columns=wide)
_declare(
    "combined without linear",
    "DNNLinearCombinedRegressor",
    label="number",
    columns=simple,
    dnn_feature_columns=simple,
    dnn_hidden_units=[4],
)
_declare("baseline classifier", "BaselineClassifier", tensors=True)
_declare(
    "baseline classifier of names",
    "BaselineClassifier",
    tensors=True,
    label="name",
    n_classes=3,
    label_vocabulary=list(canned_data.NAMES),
    weight_column="weight",
)
_declare(
    "baseline regressor",
    "BaselineRegressor",
    tensors=True,
    label="pair",
    label_dimension=2,
    optimizer="SGD",
)
_declare(
    "baseline estimator",
    "BaselineEstimator",
    tensors=True,
    label="number",
    head_of=lambda api: api.estimator.RegressionHead(name="height"),
    optimizer="Adagrad",
)
CASES, _canned = cases()
add_shared(
    _canned,
    {
        "linear regressor": {"optimizer_of": lambda api: api.keras.optimizers.legacy.SGD(0.001)},
        "linear classifier of names": {"loss_reduction": "sum"},
        "linear estimator": {
            "head_of": lambda api: api.estimator.PoissonRegressionHead(),
            "optimizer_of": lambda api: lambda: api.keras.optimizers.legacy.RMSprop(0.01),
        },
        "dnn with batch norm": {
            "optimizer_of": lambda api: api.keras.optimizers.legacy.SGD(0.1, momentum=0.5)
        },
        "dnn estimator": {
            "label": "several",
            "head_of": lambda api: api.estimator.MultiLabelHead(3, name="several"),
        },
        "combined estimator": {
            "linear_optimizer_of": lambda api: (
                lambda: api.keras.optimizers.legacy.Ftrl(
                    0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.2
                )
            ),
            "dnn_optimizer_of": decayed_adam,
        },
        "baseline classifier of names": {
            "optimizer_of": lambda api: lambda: api.keras.optimizers.legacy.Adam(0.1)
        },
    },
)
