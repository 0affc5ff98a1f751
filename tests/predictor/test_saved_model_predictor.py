"""Predictors of SavedModels.

These tests cover `predictor/base.py`.
"""

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est

X = np.float32([[1, 2], [3, 4]])


def model_fn(features, mode):
    scale = tf.compat.v1.get_variable("scale", initializer=3.0)
    outputs = {"y": features["x"] * scale}
    signatures = {
        "serving_default": est.export.PredictOutput(outputs),
        "sums": est.export.PredictOutput({"outputs": tf.reduce_sum(features["x"], axis=1)}),
    }
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions=outputs, export_outputs=signatures)
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.assign_add(step, 1)
    return est.EstimatorSpec(mode, loss=scale * 1.0, train_op=train_op)


@pytest.fixture(scope="module")
def export_dir(tmp_path_factory):
    estimator = est.Estimator(model_fn, tmp_path_factory.mktemp("model"))
    estimator.train(lambda: tf.data.Dataset.from_tensors({"x": X}).repeat(), steps=1)
    receiver_fn = est.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 2])})
    return estimator.export_saved_model(tmp_path_factory.mktemp("export"), receiver_fn)


def test_the_default_signature_is_used(export_dir):
    with est.predictor.from_saved_model(export_dir) as predictor:
        np.testing.assert_array_equal(predictor({"x": X})["y"], 3 * X)
        np.testing.assert_array_equal(predictor.predict({"x": [[5, 6]]})["y"], [[15, 18]])
        assert list(predictor.feed_tensors) == ["x"]
        assert list(predictor.fetch_tensors) == ["y"]


def test_strings_of_numpy_2_are_strings_and_none_is_not(tmp_path):
    def model_fn(features, mode):
        predictions = {"length": tf.strings.length(features["word"])}
        train_op = tf.compat.v1.assign_add(tf.compat.v1.train.get_global_step(), 1)
        loss = tf.reduce_sum(tf.cast(predictions["length"], tf.float32))
        return est.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    estimator = est.Estimator(model_fn, tmp_path / "model")
    words = {"word": ["a", "bb"]}
    estimator.train(lambda: tf.data.Dataset.from_tensors(words), steps=1)
    spec = {"word": tf.TensorSpec([None], tf.string)}
    receiver_fn = est.export.build_raw_serving_input_receiver_fn(spec)
    path = estimator.export_saved_model(tmp_path / "export", receiver_fn)
    kind = getattr(np.dtypes, "StringDType", lambda: object)  # NumPy 1 has none.
    text = np.array(words["word"], kind())
    with est.predictor.from_saved_model(path) as predictor:
        assert predictor({"word": text})["length"].tolist() == [1, 2]
        assert predictor({"word": []})["length"].shape == (0,)
        with pytest.raises(ValueError, match="'word' has None of type NoneType, but the model"):
            predictor({"word": ["a", None]})


def test_a_signature_can_be_chosen_by_key(export_dir):
    predictor = est.predictor.from_saved_model(export_dir, signature_def_key="sums")
    assert predictor(X)["outputs"].tolist() == [3, 7]


def test_tensors_can_be_chosen_by_name(export_dir):
    default = est.predictor.from_saved_model(export_dir)
    predictor = est.predictor.from_saved_model(
        export_dir,
        input_names={"in": default.feed_tensors["x"].name},
        output_names={"out": default.fetch_tensors["y"].name},
        tags="serve",
    )
    np.testing.assert_array_equal(predictor({"in": X})["out"], 3 * X)


def test_a_model_saved_by_tensorflow_2_is_opened(tmp_path):
    module = tf.Module()
    module.scale = tf.Variable(2.0)
    module.f = tf.function(lambda x: {"y": x * module.scale}, [tf.TensorSpec([None], tf.float32)])
    tf.saved_model.save(module, tmp_path, signatures=module.f)
    assert est.predictor.from_saved_model(tmp_path)([1.0, 2.0])["y"].tolist() == [2, 4]


def test_errors_name_the_mistake(export_dir, tmp_path):
    open_one = est.predictor.from_saved_model
    with pytest.raises(ValueError, match=r'signature_def_key "other".*serving_default.*sums'):
        open_one(export_dir, "other")
    with pytest.raises(ValueError, match="input_names and output_names must both"):
        open_one(export_dir, input_names={"x": "x:0"})
    with pytest.raises(ValueError, match="at most one of signature_def_key"):
        open_one(export_dir, "sums", input_names={"x": "x:0"}, output_names={"y": "y:0"})
    with pytest.raises(OSError, match="SavedModel file does not exist at: .*nothing"):
        open_one(tmp_path / "nothing")
    with pytest.raises(OSError, match="train"):
        open_one(export_dir, tags="train")


def test_a_closed_predictor_raises_an_error(export_dir):
    predictor = est.predictor.from_saved_model(export_dir)
    predictor.close()
    with pytest.raises(ValueError, match="This predictor is closed"):
        predictor(X)


@pytest.fixture(scope="module")
def labelled_dir(tmp_path_factory):
    """Exports a model whose serving features include the label, which no output needs."""
    estimator = est.Estimator(model_fn, tmp_path_factory.mktemp("labelled"))
    estimator.train(lambda: tf.data.Dataset.from_tensors({"x": X}).repeat(), steps=1)
    features = {"x": tf.zeros([1, 2]), "label": tf.zeros([1])}
    receiver_fn = est.export.build_raw_serving_input_receiver_fn(features)
    return estimator.export_saved_model(tmp_path_factory.mktemp("export"), receiver_fn)


@pytest.mark.parametrize("batch", [{"x": X}, {"x": X, "label": None}])
def test_inputs_that_outputs_do_not_need_may_be_missing(labelled_dir, batch):
    with est.predictor.from_saved_model(labelled_dir) as predictor:
        assert sorted(predictor.feed_tensors) == ["label", "x"]
        np.testing.assert_array_equal(predictor(batch)["y"], 3 * X)


def test_missing_inputs_that_outputs_need_are_named(labelled_dir):
    with est.predictor.from_saved_model(labelled_dir) as predictor:
        with pytest.raises(ValueError, match=r"no values for the inputs \['x'\].*\['y'\] need"):
            predictor({"label": [1.0, 2.0]})
        with pytest.raises(ValueError, match=r"unexpected keys in input_dict: \['other'\]"):
            predictor({"x": X, "other": X})


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        ({"x": X}, r"unexpected keys in input_dict: \['x'\]"),
        (
            {"examples": np.ones(2, np.float32)},
            "'examples' is float32, but the model takes strings",
        ),
        ([{"x": [1.0, 2.0]}], r"'examples' has \{'x': \[1.0, 2.0\]\} of type dict, but"),
    ],
)
def test_features_for_a_model_that_takes_examples_raise_an_error_that_says_so(
    tmp_path, batch, text
):
    estimator = est.Estimator(model_fn, tmp_path / "model")
    estimator.train(lambda: tf.data.Dataset.from_tensors({"x": X}).repeat(), steps=1)
    receiver_fn = est.export.build_parsing_serving_input_receiver_fn(
        {"x": tf.io.FixedLenFeature([2], tf.float32)}
    )
    path = estimator.export_saved_model(tmp_path / "export", receiver_fn)
    predictor = est.predictor.from_saved_model(path)
    with predictor, pytest.raises(ValueError, match=text) as caught:
        predictor.predict(batch)
    assert str(caught.value).endswith("export with build_raw_serving_input_receiver_fn.")
