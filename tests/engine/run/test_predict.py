"""Predictions of `predict` that cannot be split into examples."""

import pytest
import tensorflow as tf

import estimator_train as est


def input_fn():
    return tf.data.Dataset.from_tensors([[1.0], [2.0]])


def make_estimator(model_dir, predictions):
    """Returns an Estimator whose predictions are those of a function of the features."""

    def model_fn(features, labels, mode):
        return est.EstimatorSpec(mode, predictions=predictions(features))

    return est.Estimator(model_fn, model_dir)


@pytest.mark.parametrize(
    ("predictions", "error", "text"),
    [
        (tf.reduce_sum, TypeError, r"The prediction has no batch dimension: its value is .*3\.0"),
        (lambda x: {"sum": tf.reduce_sum(x)}, IndexError, "Prediction 'sum' has no batch dim"),
        (lambda x: {"y": x, "table": tf.ones([7, 2])}, ValueError, "'y': 2, 'table': 7"),
    ],
)
def test_the_error_names_the_prediction_and_the_next_step(tmp_path, predictions, error, text):
    estimator = make_estimator(tmp_path, predictions)
    with pytest.raises(error, match=text) as caught:
        list(estimator.predict(input_fn))
    assert "yield_single_examples=False" in str(caught.value)
    assert len(list(estimator.predict(input_fn, yield_single_examples=False))) == 1


def test_predictions_without_an_end_are_named(tmp_path, caplog):
    estimator = make_estimator(tmp_path, lambda x: {"y": x})
    assert len(list(estimator.predict(lambda: input_fn().repeat(3)))) == 6
    assert "do not end" not in caplog.text
    rows = estimator.predict(lambda: input_fn().repeat())
    assert [next(rows)["y"][0] for _ in range(5)] == [1, 2, 1, 2, 1]
    assert "The predictions do not end: the dataset of input_fn" in caplog.text
