"""Questions about `RNNClassifier` and `RNNEstimator` of tf.contrib.estimator."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from trying import tried

estimator, cells = tf.contrib.estimator, tf.nn.rnn_cell
columns = tf.contrib.feature_column
LABELS = {2: [[1], [0]], 3: [[2], [0]]}


class Load(tf.train.SessionRunHook):
    """Gives trainable variables values that do not depend on any seed."""

    def after_create_session(self, session, coord):
        for index, variable in enumerate(sorted(tf.trainable_variables(), key=lambda v: v.name)):
            variable.load(0.6 * numbers(*variable.shape.as_list(), start=7 * index), session)


def sparse(values):
    indices = np.array([[0, 0], [0, 1], [0, 2], [1, 0]], np.int64)
    return tf.SparseTensor(indices, values, np.array([2, 3], np.int64))


def batches(labels):
    features = {
        "word": sparse(["a", "b", "c", "b"]),
        "size": sparse([1.0, -2.0, 3.0, 0.5]),
        "age": [[0.4], [-1.0]],
        "weight": [[2.0], [0.5]],
    }
    return tf.data.Dataset.from_tensors((features, labels)).repeat(2)


def sequences():
    words = columns.sequence_categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    return [
        columns.sequence_numeric_column("size"),
        tf.feature_column.embedding_column(words, 2),
    ]


def described(made, labels):
    """Trains two steps; returns the variables, an evaluation and the predictions."""
    made.train(lambda: batches(labels), steps=2, hooks=[Load()])
    found = {name: made.get_variable_value(name) for name in made.get_variable_names()}
    results = made.evaluate(lambda: batches(labels), steps=1)
    found.update({"evaluation " + name: value for name, value in results.items()})
    for number, row in enumerate(made.predict(lambda: batches(labels))):
        if number < 2:
            found.update({f"prediction {number} {key}": row[key] for key in row})
    return {name: np.asarray(value).tolist() for name, value in found.items()}


def classified(classes=2, **arguments):
    made = estimator.RNNClassifier(
        sequences(), model_dir=tempfile.mkdtemp(), n_classes=classes, **arguments
    )
    return described(made, LABELS[classes])


@question
def of_basic_cells():
    return classified(num_units=[3, 2], cell_type="basic_rnn")


@question
def of_default_cells():
    return classified(num_units=[3])


@question
def of_long_memory():
    return classified(3, num_units=[2, 3], cell_type="lstm", optimizer="Adam")


@question
def of_gates_and_a_context():
    age = tf.feature_column.numeric_column("age")
    return classified(num_units=[2], cell_type="gru", context_feature_columns=[age])


@question
def of_several_contexts():
    names = ("weight", "age")
    context = [tf.feature_column.numeric_column(name) for name in names]
    return classified(num_units=[2], context_feature_columns=context, weight_column="weight")


@question
def of_a_class_of_cells():
    return classified(num_units=[2, 2], cell_type=cells.GRUCell, optimizer="SGD")


@question
def of_a_function():
    modes = []

    def cell(mode):
        modes.append(mode)
        return tf.contrib.rnn.LayerNormBasicLSTMCell(2)

    return dict(classified(rnn_cell_fn=cell), modes=modes)


@question
def of_another_optimizer():
    optimizer = tf.train.GradientDescentOptimizer(10.0)
    return classified(num_units=[2], optimizer=optimizer)


@question
def of_a_function_of_optimizers():
    return classified(num_units=[2], optimizer=lambda: tf.train.AdamOptimizer(0.01))


@question
def of_a_vocabulary():
    made = estimator.RNNClassifier(
        sequences(),
        num_units=[2],
        model_dir=tempfile.mkdtemp(),
        label_vocabulary=["no", "yes"],
        loss_reduction=tf.losses.Reduction.SUM,
    )
    return described(made, [["yes"], ["no"]])


@question
def of_slices():
    """Names and shapes alone, since tf.contrib cannot read the slots of slices."""
    made = estimator.RNNClassifier(
        sequences(),
        num_units=[2],
        model_dir=tempfile.mkdtemp(),
        input_layer_partitioner=tf.fixed_size_partitioner(2),
    )
    made.train(lambda: batches(LABELS[2]), steps=2)
    return {name: list(shape) for name, shape in tf.train.list_variables(made.model_dir)}


@question
def of_numbers():
    made = estimator.RNNEstimator(
        estimator.regression_head(label_dimension=2),
        sequences(),
        num_units=[2],
        model_dir=tempfile.mkdtemp(),
    )
    return described(made, [[1.0, -1.0], [0.5, 2.0]])


@question
def of_every_step():
    """A head must be wrapped by a private class of tf.contrib to see every step."""
    return {
        "plain head": tried(
            estimator.RNNEstimator,
            estimator.regression_head(),
            sequences(),
            num_units=[2],
            return_sequences=True,
        )
    }


@question
def summaries():
    made = estimator.RNNClassifier(sequences(), num_units=[2], model_dir=tempfile.mkdtemp())
    found = []

    class Look(tf.train.SessionRunHook):
        def begin(self):
            graph = tf.get_default_graph()
            found.extend(one.op.name for one in graph.get_collection(tf.GraphKeys.SUMMARIES))

    made.train(lambda: batches(LABELS[2]), steps=1, hooks=[Look()])
    return {"names": sorted(found)}


@question
def arguments():
    return {
        "classifier": signature(estimator.RNNClassifier),
        "estimator": signature(estimator.RNNEstimator),
    }


@question
def wrong_arguments():
    def make(**given):
        return estimator.RNNClassifier(sequences(), model_dir=tempfile.mkdtemp(), **given)

    def train(**given):
        return make(**given).train(lambda: batches(LABELS[2]), steps=1)

    return {
        "none": tried(train),
        "both": tried(make, num_units=[2], rnn_cell_fn=lambda mode: cells.GRUCell(2)),
        "type and function": tried(make, cell_type="gru", rnn_cell_fn=lambda mode: None),
        "unknown cell": tried(train, num_units=[2], cell_type="best"),
        "a number": tried(train, num_units=2),
        "unknown optimizer": tried(train, num_units=[2], optimizer="best"),
        "wrong optimizer": tried(train, num_units=[2], optimizer=3),
        "one class": tried(make, num_units=[2], n_classes=1),
        "dense column": tried(
            lambda: estimator.RNNClassifier(
                [tf.feature_column.numeric_column("age")], num_units=[2]
            ).train(lambda: batches(LABELS[2]), steps=1)
        ),
    }


if __name__ == "__main__":
    main()
