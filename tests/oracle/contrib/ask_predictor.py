"""Questions about tf.contrib.predictor: outputs that are inputs, tensors with two names, errors."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import main, question

predictor = tf.contrib.predictor
X = np.float32([[1, 2], [3, 4]])


def save_model():
    """Saves y = 3x whose signature also returns its inputs; returns the directory."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], "x")
        key = tf.placeholder(tf.string, [None], "key")
        path = tempfile.mkdtemp() + "/1"
        outputs = {"key": key, "x": x, "y": tf.multiply(x, 3.0, "y")}
        tf.saved_model.simple_save(session, path, {"x": x, "key": key}, outputs)
    return path


def plain(values):
    return {name: values[name].tolist() for name in sorted(values)}


@question
def outputs_that_are_inputs():
    predict = predictor.from_saved_model(save_model())
    return plain(predict({"x": X, "key": [b"a", b"b"]}))


@question
def no_output_but_the_inputs():
    names = {"x": "x:0", "key": "key:0"}
    predict = predictor.from_saved_model(save_model(), input_names=names, output_names=names)
    return plain(predict({"x": X, "key": [b"a", b"b"]}))


@question
def two_names_of_one_tensor():
    predict = predictor.from_saved_model(
        save_model(),
        input_names={"one": "x:0", "other": "x:0"},
        output_names={"three": "y:0", "thrice": "y:0"},
    )
    return plain(predict({"one": X, "other": X}))


@question
def an_unknown_signature():
    predict = predictor.from_saved_model(save_model(), signature_def_key="unknown")
    answer = {
        "y": predict.session.run("y:0", {"x:0": X}).tolist(),
        "names": [sorted(predict.feed_tensors), sorted(predict.fetch_tensors)],
        "empty": predict({}),
    }
    try:
        predict({"x": X})
    except ValueError as error:
        answer["error"] = type(error).__name__
    return answer


def model_fn(features, labels, mode):
    scale = tf.get_variable("scale", initializer=3.0)
    outputs = {"y": features["x"] * scale, "x": features["x"]}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, outputs)
    train_op = tf.train.get_global_step().assign_add(1)
    return tf.estimator.EstimatorSpec(mode, loss=scale * 1.0, train_op=train_op)


def receiver():
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})


@question
def features_among_the_predictions_of_an_estimator():
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(lambda: tf.data.Dataset.from_tensors({"x": X}), steps=1)
    return plain(predictor.from_estimator(estimator, receiver())({"x": X}))


def raises(kind, function, *arguments, **named):
    """Returns whether a call raises an error of a type."""
    try:
        function(*arguments, **named)
    except kind:
        return True
    return False


@question
def errors():
    path = save_model()
    opened = predictor.from_saved_model
    names = {"x": "x:0"}
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    answer = [
        raises(RuntimeError, opened, path, tags="other"),
        raises(IOError, opened, path + "x"),
        raises(ValueError, opened, path, signature_def_key="serving_default", input_names=names),
        raises(ValueError, opened, path, input_names=names),
        raises(KeyError, opened, path, input_names={"x": "none:0"}, output_names={"y": "y:0"}),
        raises(tf.errors.InvalidArgumentError, opened(path, tags=""), {}),
        raises(ValueError, opened(path), {"z": X}),
        raises(KeyError, predictor.from_estimator, estimator, receiver(), output_key="other"),
    ]
    return {"raised": repr(answer)}


@question
def an_untrained_estimator():
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    return plain(predictor.from_estimator(estimator, receiver())({"x": X}))


def learn_receiver():
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.contrib.learn.InputFnOps({"x": x}, None, {"x": x})


def alternatives_fn(features, labels, mode):
    kind = tf.contrib.learn.ProblemType.LINEAR_REGRESSION
    x = features["x"]
    predictions, alternatives = {"y": x}, {"a": (kind, {"y": x}), "b": (kind, {"z": 2.0 * x})}
    return tf.contrib.learn.ModelFnOps(mode, predictions, output_alternatives=alternatives)


def contrib_predict(estimator, **named):
    return plain(predictor.from_contrib_estimator(estimator, learn_receiver, **named)({"x": X}))


@question
def estimators_of_contrib_learn():
    several = tf.contrib.learn.Estimator(alternatives_fn, model_dir=tempfile.mkdtemp())
    column = tf.contrib.layers.real_valued_column("x", 2)
    canned = tf.contrib.learn.LinearClassifier([column], model_dir=tempfile.mkdtemp())
    canned.fit(input_fn=lambda: ({"x": tf.constant(X)}, tf.constant([1, 0])), steps=1)
    answers = {key: contrib_predict(several, output_alternative_key=key) for key in "ab"}
    errors = [
        raises(ValueError, contrib_predict, several),
        raises(ValueError, contrib_predict, several, output_alternative_key="c"),
        raises(ValueError, contrib_predict, canned, output_alternative_key="c"),
    ]
    return {
        "one": answers["a"]["y"],
        "other": answers["b"]["z"],
        "canned": repr(sorted(contrib_predict(canned))),
        "raised": repr(errors),
    }


if __name__ == "__main__":
    main()
