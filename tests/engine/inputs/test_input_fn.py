import functools
import logging
import weakref

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est


class Source:
    """Every kind of callable that may serve as input_fn, all of one dataset."""

    def __init__(self, dataset_fn):
        self.dataset_fn = dataset_fn
        self.seen = {}

    def __call__(self):
        return self.dataset_fn()

    def method(self, mode, params, config, input_context):
        self.seen = {
            "mode": mode,
            "params": params,
            "config": type(config),
            "pipelines": input_context.num_input_pipelines,
        }
        return self.dataset_fn()

    def named(self, flag, mode):
        self.seen = {"flag": flag, "mode": mode}
        return self.dataset_fn()


def test_input_fn_gets_the_arguments_that_it_names(model_fn, one_epoch, tmp_path):
    def with_params(features, labels, mode, params):
        return model_fn(features, labels, mode)

    source = Source(one_epoch)
    estimator = est.Estimator(with_params, tmp_path, params={"a": 1})
    estimator.train(source.method, steps=1)
    assert source.seen == {
        "mode": "train",
        "params": {"a": 1},
        "config": est.RunConfig,
        "pipelines": 1,
    }
    estimator.evaluate(functools.partial(source.named, 7))
    assert source.seen == {"flag": 7, "mode": "eval"}
    next(estimator.predict(functools.partial(source.named, flag=8)))
    assert source.seen == {"flag": 8, "mode": "infer"}
    assert estimator.evaluate(source)["global_step"] == 1


def test_pairs_lists_and_features_alone_are_inputs(model_fn, arrays, tmp_path):
    x, y = arrays
    estimator = est.Estimator(model_fn, tmp_path)
    estimator.train(lambda: ({"x": tf.constant(x)}, tf.constant(y)), steps=1)
    from_pair = estimator.evaluate(lambda: ({"x": tf.constant(x)}, tf.constant(y)), steps=1)
    from_list = estimator.evaluate(lambda: [x, y], steps=1)
    assert from_pair["loss"] == pytest.approx(from_list["loss"])
    features_alone = estimator.predict(lambda: tf.data.Dataset.from_tensors({"x": x}))
    expected = x @ estimator.get_variable_value("w")
    np.testing.assert_allclose([p["p"] for p in features_alone], expected, rtol=1e-5, atol=1e-6)


def test_lookup_tables_in_the_input_are_initialized(tmp_path):
    def input_fn():
        initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
        table = tf.lookup.StaticHashTable(initializer, -1.0)
        return tf.data.Dataset.from_tensor_slices(["a", "b", "c"]).map(table.lookup).batch(3)

    def model_fn(features, labels, mode):
        return est.EstimatorSpec(mode, predictions=features)

    assert list(est.Estimator(model_fn, tmp_path).predict(input_fn)) == [1.0, 2.0, -1.0]


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict"])
def test_input_fn_that_returns_nothing_is_named(model_fn, tmp_path, verb, caplog):
    def forgot_to_return():
        tf.data.Dataset.range(3)

    estimator = est.Estimator(model_fn, tmp_path)
    with (
        caplog.at_level(logging.WARNING, "tensorflow"),
        pytest.raises(ValueError, match="input_fn returned None, and model_fn needs features"),
    ):
        list(getattr(estimator, verb)(forgot_to_return))
    assert any(
        "forgot_to_return" in line and "returned None. Return a tf.data" in line
        for line in caplog.messages
    )


def test_element_of_three_parts_is_shown(model_fn, tmp_path):
    with pytest.raises(ValueError, match="len 2 tuple. It returned a tuple of length 3"):
        est.Estimator(model_fn, tmp_path).train(
            lambda: tf.data.Dataset.from_tensors(([1.0], [1.0], [1.0]))
        )


def test_what_an_input_fn_returns_lives_as_long_as_its_graph(tmp_path):
    def input_fn():
        rows = {"x": np.arange(8.0)}
        dataset = tf.data.Dataset.range(8).map(
            lambda row: {"x": tf.numpy_function(lambda at: rows["x"][at], [row], tf.float64)}
        )
        dataset = dataset.batch(4)
        weakref.finalize(dataset, rows.clear)  # As packages of datasets free their tables.
        return dataset

    def model_fn(features, labels, mode):
        mean = tf.compat.v1.metrics.mean(features["x"])
        step = tf.compat.v1.train.get_global_step()
        loss = tf.reduce_mean(features["x"])
        return est.EstimatorSpec(mode, features, loss, step.assign_add(1), {"x": mean})

    estimator = est.Estimator(model_fn, tmp_path)
    estimator.train(input_fn)
    for _ in range(3):  # The first input is in the model's graph, later ones have their own.
        assert estimator.evaluate(input_fn)["x"] == 3.5
        assert [row["x"] for row in estimator.predict(input_fn)] == [*range(8)]
