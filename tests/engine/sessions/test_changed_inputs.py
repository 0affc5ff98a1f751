"""An open model whose input or params change between two calls gives the new answer.

These tests cover `engine/comparison.py`.
"""

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est

v1 = tf.compat.v1


def model_fn(features, labels, mode, params):
    """Sums the features with weights by their place in the dict."""
    features = features if isinstance(features, dict) else {"x": features}
    columns = [tf.cast(value, tf.float32) for value in features.values()]
    columns = [tf.reshape(column, [tf.shape(column)[0], -1])[:, :1] for column in columns]
    v1.get_variable("weight", [], initializer=v1.ones_initializer())
    sums = tf.add_n([10.0**place * column for place, column in enumerate(columns)])
    predictions = {"p": sums + params["shift"]}
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions)
    target = 0.0 if labels is None else tf.cast(labels, tf.float32)
    loss = tf.reduce_mean(predictions["p"] - target)
    step = v1.train.get_global_step()
    return est.EstimatorSpec(mode, predictions, loss, v1.assign_add(step, 1).op)


def array(*values, dtype=np.float32):
    return np.array(values, dtype).reshape(-1, 1)


FIRST = {"a": array(1, 2), "b": array(3, 4)}
LABELS = array(1, 2)
CHANGES = {
    "values": ({"a": array(5, 6), "b": array(7, 8)}, LABELS),
    "keys": ({"a": array(1, 2), "c": array(3, 4)}, LABELS),
    "more keys": ({**FIRST, "c": array(5, 6)}, LABELS),
    "fewer keys": ({"a": array(1, 2)}, LABELS),
    "order of the keys": ({"b": array(3, 4), "a": array(1, 2)}, LABELS),
    "dtype": ({"a": array(1.5, 2.5, dtype=np.float64), "b": array(3, 4)}, LABELS),
    "integers": ({"a": array(1, 2, dtype=np.int32), "b": array(3, 4, dtype=np.int32)}, LABELS),
    "rank": ({"a": np.ones([2, 1, 1], np.float32), "b": array(3, 4)}, LABELS),
    "batch size": ({"a": array(1, 2, 3), "b": array(4, 5, 6)}, array(1, 2, 3)),
    "no dict": (array(9, 8), LABELS),
    "no labels": (FIRST, None),
    "dtype of the labels": (FIRST, array(5, 6, dtype=np.int64)),
}


def input_of(features, labels):
    def input_fn():
        parts = features if labels is None else (features, labels)
        return tf.data.Dataset.from_tensors(parts)

    return input_fn


def evaluate(estimator, features, labels):
    return float(estimator.evaluate(input_of(features, labels))["loss"])


def predict(estimator, features, labels):
    return [float(row["p"][0]) for row in estimator.predict(input_of(features, labels))]


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    directory = tmp_path_factory.mktemp("changes")

    def make(shift=0.0):
        return est.Estimator(model_fn, directory, params={"shift": shift})

    make().train(input_of(FIRST, LABELS), steps=1)
    return make


def expected_sums(features):
    """Returns what model_fn computes without a shift."""
    columns = features.values() if isinstance(features, dict) else [features]
    return sum(10.0**place * column.reshape(-1) for place, column in enumerate(columns))


def expected_answer(verb, features, labels):
    sums = expected_sums(features)
    if verb is predict:
        return sums.tolist()
    return float(np.mean(sums - (0 if labels is None else labels.reshape(-1))))


def test_each_change_of_the_input_changes_the_predictions(make):
    estimator = make()
    for change, example in CHANGES.items():
        first, changed = predict(estimator, FIRST, LABELS), predict(estimator, *example)
        assert first == pytest.approx(expected_answer(predict, FIRST, LABELS)), change
        assert changed == pytest.approx(expected_answer(predict, *example)), change
    estimator.close()


@pytest.mark.long
def test_each_of_several_changes_changes_the_evaluation(make):
    estimator = make()
    # The first change keeps the model open; the last two are of labels, which predict ignores.
    for example in ((FIRST, LABELS), *CHANGES.values(), (FIRST, LABELS), CHANGES["no labels"]):
        found = evaluate(estimator, *example)
        assert found == pytest.approx(expected_answer(evaluate, *example)), example
    estimator.close()


@pytest.mark.parametrize("verb", [evaluate, predict], ids=["evaluate", "predict"])
def test_changed_params_give_the_answer_of_a_fresh_estimator(verb, make):
    estimator = make()
    first = verb(estimator, FIRST, LABELS)
    estimator._params["shift"] = 7.0
    changed = verb(estimator, FIRST, LABELS)
    assert changed == verb(make(7.0), FIRST, LABELS) != first


@pytest.mark.parametrize("verb", [evaluate, predict], ids=["evaluate", "predict"])
def test_an_assigned_model_fn_is_built(verb, make):
    estimator = make()
    first = verb(estimator, FIRST, LABELS)
    estimator._model_fn = lambda features, labels, mode: model_fn(
        features, labels, mode, {"shift": 3.0}
    )
    assert verb(estimator, FIRST, LABELS) == verb(make(3.0), FIRST, LABELS) != first


def test_unchanged_inputs_and_params_use_the_model_that_is_open(make):
    estimator = make()
    evaluate(estimator, FIRST, LABELS)
    (model,) = estimator._open_models._models
    evaluate(estimator, *CHANGES["values"])
    assert estimator._open_models._models == [model]


PREDICTOR_REFUSES = {"keys", "more keys", "fewer keys", "rank", "no dict"}


def test_each_change_of_a_batch_gives_its_own_answer_or_an_error(make):
    estimator = make()
    for change, (features, _) in CHANGES.items():
        with estimator.predictor() as predictor:
            predictor.predict(FIRST)
            if change in PREDICTOR_REFUSES:
                with pytest.raises(ValueError, match=r"."):
                    predictor.predict(features)
            else:
                found = predictor.predict(features)["p"].reshape(-1).tolist()
                assert found == pytest.approx(expected_sums(features).tolist()), change
