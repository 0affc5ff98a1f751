"""Questions about tf.contrib.estimator.SavedModelEstimator: a model without its code."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from trying import tried

estimators = tf.contrib.estimator
MODES = tf.estimator.ModeKeys
ROWS = numbers(4, 2)
LABELS = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)


def input_fn():
    return tf.data.Dataset.from_tensors(({"a": ROWS}, LABELS)).repeat()


def tensors():
    """Names of operations that the SavedModel has too."""
    with tf.name_scope("mean_squared_error"):
        shift = tf.constant(0.0, name="value")
    return {"a": tf.constant(ROWS) + shift}, tf.constant(LABELS, name="Const")


def model_fn(features, labels, mode, params):
    with tf.variable_scope("", partitioner=params.get("partitioner")):
        outputs = tf.layers.dense(
            features["a"], 1, kernel_initializer=tf.ones_initializer(), name="d"
        )
    if mode == MODES.PREDICT:
        exports = {"serving_default": tf.estimator.export.PredictOutput({"out": outputs})}
        return tf.estimator.EstimatorSpec(mode, {"out": outputs}, export_outputs=exports)
    loss = tf.losses.mean_squared_error(labels, outputs)
    step = tf.train.get_global_step()
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=tf.train.GradientDescentOptimizer(0.1).minimize(loss, step),
        predictions={"out": outputs},
        eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, outputs)},
    )


def serving_fn():
    """Returns a serving_input_receiver_fn of the features."""
    with tf.Graph().as_default():
        features = {"a": tf.placeholder(tf.float32, [None, 2], name="a")}
        return tf.estimator.export.build_raw_serving_input_receiver_fn(features)


def exported(**params):
    """Returns an estimator after three steps and its SavedModel of all modes."""
    model = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params=params)
    model.train(input_fn, steps=3)
    receiver_fn = estimators.build_supervised_input_receiver_fn_from_input_fn(input_fn)
    receivers = {MODES.TRAIN: receiver_fn, MODES.EVAL: receiver_fn, MODES.PREDICT: serving_fn()}
    path = model.experimental_export_all_saved_models(tempfile.mkdtemp(), receivers)
    return model, path.decode()


def results(model, data=input_fn):
    found = model.evaluate(data, steps=1)
    return {name: float(found[name]) for name in sorted(found)}


def values(model):
    return {name: model.get_variable_value(name) for name in sorted(model.get_variable_names())}


@question
def arguments():
    return {"signature": signature(estimators.SavedModelEstimator.__init__)}


@question
def before_a_training():
    model = estimators.SavedModelEstimator(exported()[1])
    return [results(model), next(iter(model.predict(input_fn)))]


@question
def training():
    model = estimators.SavedModelEstimator(exported()[1])
    model.train(input_fn, steps=2)
    files = sorted(name for name in os.listdir(model.model_dir) if name.endswith(".index"))
    return [values(model), results(model), next(iter(model.predict(input_fn))), {"files": files}]


@question
def training_as_with_the_code():
    original, path = exported()
    model = estimators.SavedModelEstimator(path)
    for one in (original, model):
        one.train(input_fn, max_steps=6)
    return [values(original), values(model)]


@question
def training_that_continues():
    _, path = exported()
    directory = tempfile.mkdtemp()
    for steps in (4, 6):
        model = estimators.SavedModelEstimator(path, directory)
        model.train(input_fn, max_steps=steps)
    return [values(model), {"same": model.model_dir == directory}]


@question
def training_of_partitions():
    _, path = exported(partitioner=tf.fixed_size_partitioner(2))
    model = estimators.SavedModelEstimator(path)
    model.train(input_fn, steps=1)
    return values(model)


@question
def labels_by_name():
    data = tf.data.Dataset.from_tensors
    model = estimators.SavedModelEstimator(exported()[1])
    model.train(lambda: data(({"a": ROWS, "more": ROWS}, {"label": LABELS})), steps=1)
    return results(model)


@question
def export_of_predictions():
    model = estimators.SavedModelEstimator(exported()[1])
    model.train(input_fn, steps=1)
    path = model.export_saved_model(tempfile.mkdtemp(), serving_fn())
    predict = tf.contrib.predictor.from_saved_model(path.decode())
    return predict({"a": ROWS})


@question
def modes_that_are_missing():
    original, _ = exported()
    path = original.export_saved_model(tempfile.mkdtemp(), serving_fn()).decode()
    model = estimators.SavedModelEstimator(path)
    errors = [tried(model.train, input_fn, steps=1), tried(model.evaluate, input_fn, steps=1)]
    return {"errors": errors, "predictions": next(iter(model.predict(input_fn)))["out"]}


@question
def wrong_inputs():
    model = estimators.SavedModelEstimator(exported()[1])
    data = tf.data.Dataset.from_tensors
    inputs = [
        lambda: data(({"b": ROWS}, LABELS)),
        lambda: data((ROWS, LABELS)),
        lambda: data({"a": ROWS}),
        lambda: data(({"a": ROWS.astype("float64")}, LABELS)),
        lambda: data(({"a": numbers(4, 3)}, LABELS)),
    ]
    return {"errors": [tried(model.train, one, steps=1) for one in inputs]}


@question
def wrong_type():
    model = estimators.SavedModelEstimator(exported()[1])
    doubles = {"a": ROWS.astype("float64")}
    model.train(lambda: tf.data.Dataset.from_tensors((doubles, LABELS)), steps=1)


@question
def directory_without_a_model():
    return {"error": tried(estimators.SavedModelEstimator, tempfile.mkdtemp())}


@question
def names_that_the_input_has_too():
    model = estimators.SavedModelEstimator(exported()[1])
    model.train(tensors, steps=1)
    return [values(model), results(model, tensors)]


def words_model_fn(features, labels, mode):
    """A table with a vocabulary file, whose weights are trained."""
    column = tf.feature_column.categorical_column_with_vocabulary_file("w", words_model_fn.path, 3)
    dense = tf.feature_column.embedding_column(column, 2, initializer=tf.ones_initializer())
    outputs = tf.reduce_sum(tf.feature_column.input_layer(features, [dense]), 1, keepdims=True)
    loss = tf.losses.mean_squared_error(labels, outputs)
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, outputs, loss, train_op)


def words():
    features = {"w": np.array([["x"], ["y"], ["z"], ["x"]])}
    return tf.data.Dataset.from_tensors((features, LABELS)).repeat()


@question
def tables():
    words_model_fn.path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(words_model_fn.path, "w") as file:
        file.write("x\ny\nz\n")
    original = tf.estimator.Estimator(words_model_fn, tempfile.mkdtemp())
    original.train(words, steps=1)
    receiver_fn = estimators.build_supervised_input_receiver_fn_from_input_fn(words)
    path = original.experimental_export_all_saved_models(
        tempfile.mkdtemp(), {MODES.TRAIN: receiver_fn, MODES.EVAL: receiver_fn}
    )
    model = estimators.SavedModelEstimator(path.decode())
    model.train(words, steps=2)
    return [values(model), results(model, words)]


def file_model_fn(features, labels, mode):
    """The size of a file times a weight."""
    path = tf.constant(file_model_fn.path, name="path")
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
    size = tf.cast(tf.strings.length(tf.read_file(path)), tf.float32)
    weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
    outputs = tf.fill(tf.shape(features["a"])[:1], size * weight)
    train_op = tf.assign_add(tf.train.get_global_step(), 1)
    return tf.estimator.EstimatorSpec(mode, outputs, tf.reduce_sum(outputs), train_op)


@question
def assets():
    file_model_fn.path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(file_model_fn.path, "w") as file:
        file.write("four")
    original = tf.estimator.Estimator(file_model_fn, tempfile.mkdtemp())
    data = lambda: ({"a": tf.constant(ROWS)}, tf.constant(LABELS))  # noqa: E731
    original.train(data, steps=1)
    receiver_fn = estimators.build_supervised_input_receiver_fn_from_input_fn(data)
    path = original.experimental_export_all_saved_models(
        tempfile.mkdtemp(), {MODES.EVAL: receiver_fn}
    )
    os.remove(file_model_fn.path)
    return results(estimators.SavedModelEstimator(path.decode()), data)


if __name__ == "__main__":
    main()
