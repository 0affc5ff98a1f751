"""Heads in users' programs: eager code, functions, Estimators, users' heads.

These tests cover `heads/base.py`, `heads/classification.py`, `heads/keys.py`, `heads/losses.py`,
`heads/multi.py`, `heads/multi_label.py` and `heads/training.py`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from outcomes import recorded

import estimator_train as est
from estimator_train import heads

v1 = tf.compat.v1
LOGITS = [[0.5], [-1.0], [2.0]]
LABELS = [[1], [0], [0]]


def test_keys_equal_the_recorded_ones() -> None:
    ours = {kind.__name__: kind for kind in (heads.MetricKeys, heads.PredictionKeys)}
    for name, theirs in recorded("heads_keys").items():
        found = {key: value for key, value in vars(ours[name]).items() if key.isupper()}
        assert found == theirs


def test_metrics_gather_eager_batches() -> None:
    head = heads.BinaryClassHead(weight_column="w", name="x")
    metrics = head.metrics()
    for weights in ([1.0, 1.0, 0.0], [0.0, 0.0, 2.0]):
        result = head.update_metrics(metrics, {"w": weights}, LOGITS, LABELS)
    assert result is metrics
    values = {key: float(metric.result()) for key, metric in metrics.items()}
    assert values["accuracy/x"] == 0.5
    assert values["label/mean/x"] == 0.25
    assert values["accuracy_baseline/x"] == 0.75
    assert values["recall/x"] == 1.0


def test_eager_loss_is_the_mean_of_cross_entropies() -> None:
    loss = heads.BinaryClassHead().loss(LABELS, LOGITS)
    expected = np.log1p(np.exp([-0.5, -1.0, 2.0])).mean()
    assert float(loss) == pytest.approx(expected, rel=1e-6)


def test_an_eager_label_out_of_range_is_shown() -> None:
    with pytest.raises(ValueError, match=re.escape("Labels must be <= 3 - 1. Given: [7]")):
        heads.MultiClassHead(3).loss([[7], [0]], [[1.0, 2.0, 3.0]] * 2)


def test_names_are_looked_up_within_a_function() -> None:
    head = heads.MultiClassHead(3, label_vocabulary=["a", "b", "c"])
    logits = tf.constant([[1.0, 2.0, 0.0], [0.0, 0.0, 5.0]])
    loss = tf.function(lambda labels: head.loss(labels, logits))
    predicted = tf.function(lambda: head.predictions(logits, ["classes"])["classes"])
    wanted = heads.MultiClassHead(3).loss([1, 2], logits)
    for _ in range(2):
        assert float(loss(tf.constant(["b", "c"]))) == pytest.approx(float(wanted))
        assert predicted().numpy().ravel().tolist() == [b"b", b"c"]


def test_negative_weights_are_used_unchanged() -> None:
    head = heads.RegressionHead(weight_column="w")
    assert float(head.loss([1.0, 2.0], [[1.0], [1.0]], {"w": [1.0, -1.0]})) == -0.5
    with tf.Graph().as_default(), v1.Session() as session:
        weights = v1.placeholder(tf.float32, [None])
        loss = head.loss(tf.constant([1.0, 2.0]), tf.constant([[1.0], [1.0]]), {"w": weights})
        assert session.run(loss, {weights: [1.0, -1.0]}) == -0.5


def test_weights_of_unknown_rank_have_one_value_per_example() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        weights, logits = v1.placeholder(tf.float32), v1.placeholder(tf.float32)
        loss = heads.RegressionHead(weight_column="w").loss(
            tf.constant([[1.0], [2.0]]), logits, {"w": weights}
        )
        for given in ([1.0, 3.0], [[1.0], [3.0]]):
            assert session.run(loss, {weights: given, logits: [[1.0], [1.0]]}) == 1.5


def test_a_numeric_column_normalizes_weights() -> None:
    column = tf.feature_column.numeric_column("w", normalizer_fn=lambda values: values * 10.0)
    head = heads.RegressionHead(weight_column=column, loss_reduction="sum")
    assert float(head.loss([1.0, 3.0], [[0.0], [0.0]], {"w": [1.0, 2.0]})) == 190.0


def test_a_loss_fn_gets_features_and_the_reduction() -> None:
    seen = []

    def loss_fn(labels: Any, logits: Any, features: Any, loss_reduction: str) -> tf.Tensor:
        seen.append((features["factor"], loss_reduction))
        return (logits - labels) * features["factor"]

    head = heads.RegressionHead(loss_reduction="sum", loss_fn=loss_fn)
    assert float(head.loss([1.0, 2.0], [[4.0], [6.0]], {"factor": 2.0})) == 14.0
    assert seen == [(2.0, "sum")]


@pytest.mark.parametrize("wrong", ["a", None])
def test_a_loss_fn_that_returns_no_tensor_is_named(wrong: Any) -> None:
    head = heads.RegressionHead(loss_fn=lambda labels, logits: wrong)
    with pytest.raises(ValueError, match=re.escape(f"DN, 1]. Given: {wrong!r}")):
        head.loss([1.0], [[4.0]])


@pytest.mark.parametrize(
    "loss_fn",
    [
        functools.partial(lambda labels, logits, scale: scale * tf.abs(logits), scale=2.0),
        lambda labels, logits: np.full([2, 1], 3.0, np.float32),
        lambda labels, logits: tf.Variable([[2.0], [4.0]]),
        lambda labels, logits: [[1.0], [5.0]],
    ],
)
def test_a_loss_fn_may_be_a_partial_and_return_an_array(loss_fn: Any) -> None:
    head = heads.BinaryClassHead(loss_fn=loss_fn)
    assert float(head.loss([[1], [0]], [[1.0], [2.0]])) == 3.0


def test_a_loss_fn_must_keep_one_loss_for_each_example() -> None:
    head = heads.MultiClassHead(3, loss_fn=lambda labels, logits: logits)
    text = "of shape [D0, D1, ... DN, 1]. ] [logits_shape: ] [1 3] [loss_shape: ] [1 3]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(text)):
        head.loss([1], [[1.0, 2.0, 3.0]])


def test_sparse_label_names_become_indicators() -> None:
    head = heads.MultiLabelHead(3, label_vocabulary=["a", "b", "c"])
    logits = tf.constant([[1.0, -2.0, 3.0], [0.5, 0.0, 1.0]])
    names = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["c", "a", "b"], [2, 2])
    expected = heads.MultiLabelHead(3).loss([[1, 0, 1], [0, 1, 0]], logits)
    assert float(head.loss(names, logits)) == pytest.approx(float(expected))
    unknown = tf.SparseTensor([[0, 0], [1, 0]], ["c", "x"], [2, 1])
    with pytest.raises(
        ValueError, match=re.escape("[0, 3). label_vocabulary does not contain [b'x']")
    ):
        head.loss(unknown, logits)


@pytest.mark.parametrize("eager", [True, False])
def test_an_unknown_label_is_named(eager: bool) -> None:
    head = heads.MultiClassHead(3, label_vocabulary=["a", "b", "c"])
    text = "label_vocabulary does not contain.*zebra"
    if eager:
        with pytest.raises(ValueError, match=text):
            head.loss([["a"], ["zebra"]], tf.zeros([2, 3]))
        return
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        loss = head.loss(tf.constant([["a"], ["zebra"]]), tf.zeros([2, 3]))
        session.run(tf.compat.v1.tables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(loss)


def test_a_name_that_is_twice_in_the_vocabulary_is_named_with_its_places() -> None:
    head = heads.MultiClassHead(3, label_vocabulary=["a", "b", "a"])
    text = "label_vocabulary has 'a' at index 0 and index 2"
    with pytest.raises(tf.errors.FailedPreconditionError, match=text):
        head.loss([["a"], ["b"]], tf.zeros([2, 3]))
    # Predictions do not need the numbers of names, as under tf.estimator.
    assert head.predictions(tf.zeros([2, 3]))["classes"].numpy().tolist() == [[b"a"], [b"a"]]


def test_sparse_names_need_a_vocabulary() -> None:
    names = tf.SparseTensor([[0, 0]], ["a"], [1, 1])
    with pytest.raises(ValueError, match="Strings need a label_vocabulary"):
        heads.MultiLabelHead(3).loss(names, [[1.0, -2.0, 3.0]])


def test_classes_must_be_an_integer() -> None:
    with pytest.raises(TypeError, match=re.escape("n_classes must be an integer > 2: 3.0.")):
        heads.MultiClassHead(3.0)  # type: ignore[arg-type]
    assert heads.MultiClassHead(np.int64(3)).logits_dimension == 3


def test_two_heads_with_the_same_name_are_rejected() -> None:
    both = [heads.BinaryClassHead(name="a"), heads.RegressionHead(name="a")]
    with pytest.raises(ValueError, match=re.escape("different names. Given: ['a', 'a']")):
        heads.MultiHead(both)


def test_logits_of_several_heads_must_fit() -> None:
    head = heads.MultiHead([heads.BinaryClassHead(name="a"), heads.MultiClassHead(3, name="b")])
    text = "[2, 5] among the heads with individual logits dimensions: [1, 3]."
    with pytest.raises(ValueError, match=re.escape(text)):
        head.predictions(tf.zeros([2, 5]))


def test_an_unknown_mode_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Given: 'predict'"):
        heads.BinaryClassHead().create_estimator_spec({}, "predict", tf.constant(LOGITS))


class Absolute(heads.Head):
    """A user's own head: absolute errors."""

    name = "own"
    logits_dimension = 1
    loss_reduction = "sum"

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None,
        regularization_losses: Any = None,
    ) -> tf.Tensor:  # fmt: skip
        return tf.reduce_sum(tf.abs(labels - logits))

    def predictions(self, logits: Any, keys: Any = None) -> dict[str, tf.Tensor]:
        return {"guess": logits}

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        return {"error": tf_keras.metrics.MeanAbsoluteError()}

    def update_metrics(
        self, eval_metrics: Any, features: Any, logits: Any, labels: Any, mode: Any = None,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:  # fmt: skip
        eval_metrics["error"].update_state(labels, logits)
        return eval_metrics


@pytest.mark.parametrize("several", [False, True])
def test_update_metrics_takes_the_mode_of_the_abstract_method(several: bool) -> None:
    head: Any = heads.RegressionHead(name="own")
    labels: Any = tf.constant([[1.0]])
    if several:
        head, labels = heads.MultiHead([head]), {"own": labels}
    logits = tf.constant([[3.0]])
    updated = head.update_metrics(head.metrics(), {}, logits, labels, mode="eval")
    assert float(updated["prediction/mean/own"].result()) == 3.0


@pytest.mark.parametrize("several", [False, True])
def test_a_users_own_head_makes_specs(several: bool) -> None:
    head: Any = heads.MultiHead([Absolute()]) if several else Absolute()
    with tf.Graph().as_default(), v1.Session() as session:
        labels: Any = tf.constant([[1.0], [2.0]])
        labels = {"own": labels} if several else labels
        logits = tf.constant([[1.5], [0.0]])
        train = head.create_estimator_spec({}, "train", logits, labels, train_op_fn=tf.identity)
        evaluation = head.create_estimator_spec({}, "eval", logits, labels)
        served = head.create_estimator_spec({}, "infer", logits)
        session.run(v1.local_variables_initializer())
        value, update = evaluation.eval_metric_ops["error"]
        session.run(update)
        assert session.run([train.loss, train.train_op, value]) == [2.5, 2.5, 1.25]
    key: Any = ("own", "guess") if several else "guess"
    assert list(served.predictions) == [key]
    assert served.export_outputs is not None
    assert {"predict", "serving_default"} <= set(served.export_outputs)


def _trained(
    make: Callable[[], Any], directory: Path, *, outside: bool = False
) -> tuple[list[float], int, dict[str, Any]]:
    """Weights, steps and evaluation after training a head with names of classes.

    Args:
        make: Makes the optimizer.
        directory: The model's directory.
        outside: Whether it is made outside of the model_fn.
    """
    head = heads.MultiClassHead(3, label_vocabulary=["a", "b", "c"])
    made = make() if outside else None

    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        weights = v1.get_variable("weights", initializer=np.eye(3, dtype=np.float32))
        optimizer = made or make()
        if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
            optimizer.iterations = v1.train.get_or_create_global_step()
        return head.create_estimator_spec(
            features,
            mode,
            tf.matmul(features["x"], weights),
            labels,
            optimizer=optimizer,
            trainable_variables=[weights],
        )

    def data() -> tf.data.Dataset:
        rows = ({"x": np.eye(3, dtype=np.float32)}, ["b", "c", "a"])
        return tf.data.Dataset.from_tensor_slices(rows).repeat(20).batch(3)

    estimator = est.Estimator(model_fn, str(directory))
    estimator.train(data, steps=15)
    estimator.train(data, steps=5)
    weights = estimator.get_variable_value("weights").ravel().tolist()
    return weights, int(estimator.get_variable_value("global_step")), estimator.evaluate(data)


@pytest.mark.long
def test_new_optimizers_train_as_their_legacy_forms(tmp_path: Path) -> None:
    new, legacy = tf_keras.optimizers.Adam, tf_keras.optimizers.legacy.Adam
    expected, steps, evaluation = _trained(lambda: legacy(0.2), tmp_path / "legacy")
    assert steps == 20
    assert evaluation["accuracy"] == 1.0
    assert evaluation["average_loss"] < 0.05
    for outside in (True, False):
        weights, steps, _ = _trained(lambda: new(0.2), tmp_path / str(outside), outside=outside)
        assert steps == 20
        assert weights == pytest.approx(expected, rel=1e-5)


@pytest.mark.long
def test_an_optimizer_without_a_legacy_form_trains(tmp_path: Path) -> None:
    weights = [
        _trained(lambda: tf_keras.optimizers.AdamW(0.2), tmp_path / str(outside), outside=outside)[
            0
        ]
        for outside in (True, False)
    ]
    assert weights[0] == pytest.approx(weights[1], rel=1e-5)
    assert weights[0][1] > 1.0 > weights[0][0]


def test_a_new_optimizer_may_count_steps_itself() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        weight = v1.get_variable("weight", initializer=[[2.0]])
        optimizer = tf_keras.optimizers.SGD(0.1)
        optimizer.iterations = step
        spec = heads.RegressionHead().create_estimator_spec(
            {}, "train", tf.identity(weight), tf.constant([1.0]),
            optimizer=optimizer, trainable_variables=[weight],
        )  # fmt: skip
        session.run(v1.global_variables_initializer())
        session.run(spec.train_op)
        assert session.run(step) == 1
        assert session.run(weight)[0, 0] == pytest.approx(1.8)


def test_an_error_names_the_training_option_for_v1_optimizers() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="give train_op_fn="):
        heads.RegressionHead().create_estimator_spec(
            {},
            "train",
            tf.constant([[1.0]]),
            tf.constant([1.0]),
            optimizer=v1.train.GradientDescentOptimizer(0.1),
            trainable_variables=[],
        )
