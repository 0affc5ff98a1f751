"""Questions about estimators of tf.contrib.learn that few programs use."""

import glob
import os
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from tensorflow.contrib.learn.python.learn.estimators import rnn_common
from trying import tried

learn, layers = tf.contrib.learn, tf.contrib.layers
X = np.sin(np.arange(20)).reshape(10, 2).astype(np.float32)
LABELS = np.array([0, 1] * 5)[:, None]
WEIGHTS = np.linspace(0, 2, 10).astype(np.float32)[:, None]
ROWS = [[0, 0], [0, 1], [2, 0], [5, 0], [9, 1]]


def features():
    return {
        "id": tf.constant([str(number) for number in range(10)]),
        "a": tf.constant(X[:, :1]),
        "b": tf.constant(X[:, 1:]),
        "w": tf.constant(WEIGHTS),
        "s": tf.SparseTensor([[i, 0] for i in range(10)], list("abcabcabca"), [10, 1]),
        "t": tf.SparseTensor(ROWS, list("xyxxz"), [10, 2]),
        "tw": tf.SparseTensor(ROWS, [1.0, 2.0, 3.0, 0.5, 1.0], [10, 2]),
    }


def batch(labels=LABELS):
    return lambda: (features(), tf.constant(labels))


def numeric_columns():
    return [layers.real_valued_column("a"), layers.real_valued_column("b")]


def tags(estimator):
    paths = glob.glob(os.path.join(estimator.model_dir, "events*"))
    events = [event for path in paths for event in tf.train.summary_iterator(path)]
    found = sorted({value.tag for event in events for value in event.summary.value})
    return [tag for tag in found if tag != "global_step/sec"]


def variables(estimator):
    """Shapes of all variables, and rounded values: the steps depend on the order of threads."""
    names = sorted(estimator.get_variable_names())
    found = {name: np.asarray(estimator.get_variable_value(name)) for name in names}
    short = {name: value for name, value in found.items() if "Table" not in name}
    return {
        "names": names,
        "values": [[round(float(x), 2) + 0.0 for x in short[name].ravel()] for name in short]
    }  # fmt: skip


def ascended(kind, sdca, columns=None, labels=LABELS, **arguments):
    """Variables, tags and results of a linear model after its ascent has converged."""
    estimator = getattr(learn, kind)(
        feature_columns=columns or numeric_columns(),
        optimizer=tf.contrib.linear_optimizer.SDCAOptimizer("id", **sdca),
        model_dir=tempfile.mkdtemp(),
        **arguments
    )  # fmt: skip
    return describe(estimator, labels)


def describe(estimator, labels=LABELS):
    given = batch(labels)
    estimator.fit(input_fn=given, steps=150)
    results = estimator.evaluate(input_fn=given, steps=1)
    texts = [name + "=" + format(float(value), ".2g") for name, value in sorted(results.items())]
    return dict(variables(estimator), tags=tags(estimator), results=texts)


@question
def sdca_classifier():
    return [{"all": [repr(ascended("LinearClassifier", {}))]}]


@question
def sdca_regressor():
    l1 = {"symmetric_l1_regularization": 0.1, "symmetric_l2_regularization": 0.5}
    asked = ascended("LinearRegressor", l1, labels=2 * X[:, :1], weight_column_name="w")
    return [{"all": [repr(asked)]}]


@question
def sdca_sparse_columns():
    s = layers.sparse_column_with_keys("s", ["a", "b"])
    t = layers.sparse_column_with_hash_bucket("t", 5)
    weighted = layers.weighted_sparse_column(t, "tw")
    buckets = layers.bucketized_column(layers.real_valued_column("a"), [-0.5, 0.0, 0.5])
    settings = {"num_table_shards": 2, "adaptive": False, "num_loss_partitions": 2}
    columns = [s, weighted, buckets]
    return [{"all": [repr(ascended("LinearClassifier", settings, columns))]}]


def refused(kind, **arguments):
    sdca = tf.contrib.linear_optimizer.SDCAOptimizer("id")

    def fitted():
        made = getattr(learn, kind)(
            feature_columns=numeric_columns(), optimizer=sdca, model_dir=tempfile.mkdtemp(),
            **arguments
        )  # fmt: skip
        return made.fit(input_fn=batch(), steps=1)

    return tried(fitted)


@question
def sdca_refusals():
    return {
        "three classes": refused("LinearClassifier", n_classes=3),
        "joint": refused("LinearClassifier", _joint_weight=True),
        "centered": refused("LinearClassifier", enable_centered_bias=True),
        "estimator": refused("LinearEstimator", head=learn.regression_head()),
    }


@question
def svm():
    made = learn.SVM("id", numeric_columns(), model_dir=tempfile.mkdtemp())
    found = describe(made)
    predicted = list(made.predict(input_fn=batch()))
    return {
        "all": [repr(found)],
        "keys": sorted(predicted[0]),
        "classes": list(made.predict_classes(input_fn=batch())),
        "array": made.predict_classes(input_fn=batch(), as_iterable=False),
    }


@question
def svm_regularized():
    arguments = {"l1_regularization": 0.2, "l2_regularization": 2.0, "weight_column_name": "w"}
    made = learn.SVM("id", numeric_columns(), model_dir=tempfile.mkdtemp(), **arguments)
    return {"all": [repr(describe(made))]}


@question
def svm_refusals():
    return {
        "kernels": tried(lambda: learn.SVM("id", numeric_columns(), kernels={})),
        "negative": tried(
            lambda: describe(learn.SVM("id", numeric_columns(), l2_regularization=-1.0))
        ),
    }


def logistic_model(features, labels, mode):
    weights = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    logits = tf.matmul(features, weights)
    loss = tf.losses.sigmoid_cross_entropy(tf.reshape(labels, [-1, 1]), logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    return tf.sigmoid(logits), loss, optimizer.minimize(loss, tf.train.get_global_step())


@question
def logistic_regressor():
    found = {}
    for name, thresholds in (("default", None), ("two", [0.25, 0.5])):
        model = learn.LogisticRegressor(logistic_model, thresholds, tempfile.mkdtemp())

        def given():
            return tf.constant(X), tf.constant(LABELS)

        model.fit(input_fn=given, steps=3)
        results = model.evaluate(input_fn=given, steps=1)
        found[name] = sorted(results)
        found[name + " values"] = [float(value) for _, value in sorted(results.items())]
        found[name + " predicted"] = np.array(list(model.predict(input_fn=given)))
    return found


STEPS = numbers(4, 5, 2, scale=1)
LENGTHS = np.array([5, 3, 4, 2], np.int32)
CONTEXT = numbers(4, 1, start=3)
CLASSES = (np.arange(20).reshape(4, 5) * 7) % 3
SINGLE, MULTIPLE = 1, 2
CLASSIFICATION, REGRESSION = learn.ProblemType.CLASSIFICATION, learn.ProblemType.LINEAR_REGRESSION


class Load(tf.train.SessionRunHook):
    """Gives trainable variables values that do not depend on any seed."""

    def after_create_session(self, session, coord):
        for index, one in enumerate(sorted(tf.trainable_variables(), key=lambda v: v.name)):
            one.load(numbers(*one.shape.as_list(), start=7 * index), session)


def recurrent(problem, prediction, labels, context=False, lengths=LENGTHS, **arguments):
    """Variables after two steps, results, predictions and tags."""
    model = learn.DynamicRnnEstimator(
        problem,
        prediction,
        [layers.real_valued_column("x", 2)],
        [layers.real_valued_column("c")] if context else None,
        model_dir=tempfile.mkdtemp(),
        **arguments
    )  # fmt: skip

    def given():
        found = {"x": tf.constant(STEPS), "c": tf.constant(CONTEXT)}
        if lengths is not None:
            found[rnn_common.RNNKeys.SEQUENCE_LENGTH_KEY] = tf.constant(lengths)
        return found, tf.constant(labels)

    model.fit(input_fn=given, steps=2, monitors=[Load()])
    answers = {name: model.get_variable_value(name) for name in model.get_variable_names()}
    for name, value in model.evaluate(input_fn=given, steps=1).items():
        answers["result " + name] = value
    predicted = list(model.predict(input_fn=given))
    for name in predicted[0]:
        answers["predicted " + name] = np.array([one[name] for one in predicted])
    # Ours writes the loss for every model.
    answers["tags"] = [tag for tag in tags(model) if tag != "loss"]
    return answers


@question
def recurrent_classes():
    return recurrent(CLASSIFICATION, MULTIPLE, CLASSES, num_classes=3, num_units=3)


@question
def recurrent_lstm():
    return recurrent(
        CLASSIFICATION, MULTIPLE, CLASSES, True, num_classes=3, num_units=[3, 2],
        cell_type="lstm", predict_probabilities=True, optimizer="Momentum", momentum=0.9,
    )  # fmt: skip


@question
def recurrent_gru():
    return recurrent(
        CLASSIFICATION, SINGLE, CLASSES[:, 0], num_classes=3, num_units=3, cell_type="gru",
        predict_probabilities=True,
    )  # fmt: skip


@question
def recurrent_numbers():
    return recurrent(REGRESSION, MULTIPLE, STEPS[:, :, 0], num_units=3, optimizer="Adam")


@question
def recurrent_number():
    return recurrent(
        REGRESSION, SINGLE, STEPS[:, 0, 0], num_units=3, optimizer="Adagrad",
        learning_rate=0.01, gradient_clipping_norm=None,
    )  # fmt: skip


@question
def recurrent_of_one_length():
    return recurrent(REGRESSION, MULTIPLE, STEPS[:, :, 0], lengths=None, num_units=3)


@question
def recurrent_kept():
    """Dropout that keeps everything."""
    return recurrent(
        REGRESSION, SINGLE, STEPS[:, 0, 0], num_units=[3, 2], dropout_keep_probabilities=[1.0] * 3
    )


@question
def recurrent_refusals():
    def made(*arguments, **named):
        return tried(learn.DynamicRnnEstimator, *arguments, num_units=2, **named)

    return {
        "no classes": made(CLASSIFICATION, SINGLE, []),
        "problem": made("x", SINGLE, []),
        "prediction": made(REGRESSION, "x", []),
    }


@question
def signatures():
    names = ("SVM", "LogisticRegressor", "DynamicRnnEstimator")
    made = {name: signature(getattr(learn, name)) for name in names}
    made["SDCAOptimizer"] = signature(tf.contrib.linear_optimizer.SDCAOptimizer)
    return made


if __name__ == "__main__":
    main()
