"""Questions about the collections that the heads of tf.contrib.estimator fill."""

import tensorflow as tf
from asking import differs, main, numbers, question

estimator = tf.contrib.estimator
BITS = [[0.0], [1.0], [1.0]]
CLASSES = [[0], [2], [1]]


def _collections(make, labels, size):
    """Counts the entries that a spec of each mode adds to the collections of a graph."""
    found = {}
    for mode in ("train", "eval", "infer"):
        with tf.Graph().as_default() as graph:
            tf.train.create_global_step()
            before = _sizes(graph)
            make().create_estimator_spec(
                {"weight": tf.constant([[0.5], [2.0], [0.0]])},
                mode,
                tf.constant(numbers(3, size, scale=2.0)),
                labels=None if mode == "infer" else _constants(labels),
                train_op_fn=lambda _: tf.no_op(),
            )
            after = _sizes(graph)
        found[mode] = ", ".join(
            f"{name} {after[name] - before.get(name, 0)}"
            for name in sorted(after)
            if after[name] != before.get(name, 0)
        )
    return found


def _constants(labels):
    if isinstance(labels, dict):
        return {name: tf.constant(values) for name, values in labels.items()}
    return tf.constant(labels)


def _sizes(graph):
    # Without the control flow of TensorFlow 1, of which assertions are made.
    names = set(graph.collections) - {"cond_context"}
    names = [name for name in names if isinstance(name, str)]
    return {name: len(graph.get_collection(name)) for name in names}


@differs("The metric accuracy_baseline has its own total and count.")
@question
def collections_of_two_classes():
    return _collections(estimator.binary_classification_head, BITS, 1)


@question
def collections_of_classes():
    return _collections(lambda: estimator.multi_class_head(3), CLASSES, 3)


@question
def collections_of_class_names():
    names = [["a"], ["c"], ["b"]]
    make = lambda: estimator.multi_class_head(3, label_vocabulary=["a", "b", "c"])  # noqa: E731
    return _collections(make, names, 3)


@question
def collections_of_numbers():
    return _collections(lambda: estimator.regression_head("weight"), [[1.0], [-2.0], [0.5]], 1)


@question
def collections_of_sums():
    reduction = tf.losses.Reduction.SUM
    return _collections(
        lambda: estimator.regression_head(loss_reduction=reduction), [[1.0], [-2.0], [0.5]], 1
    )


@question
def collections_of_counts():
    return _collections(estimator.poisson_regression_head, [[1.0], [2.0], [0.0]], 1)


@question
def collections_of_probabilities():
    return _collections(estimator.logistic_regression_head, [[0.3], [1.0], [0.0]], 1)


@question
def collections_of_several_labels():
    labels = [[1, 0, 1], [0, 0, 1], [1, 1, 0]]
    return _collections(lambda: estimator.multi_label_head(3), labels, 3)


@differs("In evaluation, metrics compute the losses of the heads again.")
@question
def collections_of_several_heads():
    def make():
        return estimator.multi_head(
            [estimator.regression_head(name="number"), estimator.multi_class_head(3, name="kind")]
        )

    return _collections(make, {"number": [[1.0], [-2.0], [0.5]], "kind": CLASSES}, 4)


if __name__ == "__main__":
    main()
