"""Questions about the heads of tf.contrib.estimator, and what wraps estimators."""

import tensorflow as tf
from asking import main, numbers, question

estimator = tf.contrib.estimator
Reduction = tf.losses.Reduction
FEATURES = {"weight": [[0.5], [2.0], [0.0]]}
CLASSES = [[0], [2], [1]]
BITS = [[0.0], [1.0], [1.0]]


def spec_of(head, mode, labels, size, **arguments):
    return head.create_estimator_spec(
        {key: tf.constant(value) for key, value in FEATURES.items()},
        mode,
        tf.constant(numbers(3, size, scale=2.0)),
        labels=labels if labels is None else tf.constant(labels),
        **arguments,
    )


def loss(head, labels, size):
    return spec_of(head, "train", labels, size, train_op_fn=lambda _: tf.no_op()).loss


def metrics(head, labels, size):
    """Lists the names of metrics, in a separate graph since their variables differ today."""
    with tf.Graph().as_default():
        return ", ".join(sorted(spec_of(head, "eval", labels, size).eval_metric_ops))


def measured(head, labels, size, **arguments):
    """Returns the values of all metrics of one batch, in a separate graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        ops = spec_of(head, "eval", labels, size, **arguments).eval_metric_ops
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        session.run([update for _, update in ops.values()])
        values = session.run({name: value for name, (value, _) in ops.items()})
    return {name: float(value) for name, value in values.items()}


def predicted(head, size):
    spec = spec_of(head, "infer", None, size)
    return dict(spec.predictions, outputs=", ".join(sorted(spec.export_outputs)))


def losses(make, labels, size):
    """Returns the loss by each reduction, without weights and with them."""
    found = {}
    for reduction in sorted(Reduction.all()):
        if reduction != Reduction.NONE:
            for weights in (None, "weight"):
                head = make(weight_column=weights, loss_reduction=reduction)
                found[reduction + " " + str(weights)] = loss(head, labels, size)
    return found


@question
def losses_of_two_classes():
    return losses(estimator.binary_classification_head, BITS, 1)


@question
def losses_of_classes():
    return losses(lambda **named: estimator.multi_class_head(3, **named), CLASSES, 3)


@question
def losses_of_numbers():
    return losses(estimator.regression_head, [[1.0], [-2.0], [0.5]], 1)


@question
def losses_of_counts():
    return losses(estimator.poisson_regression_head, [[1.0], [2.0], [0.0]], 1)


@question
def losses_of_shares():
    return losses(estimator.logistic_regression_head, [[0.3], [1.0], [0.0]], 1)


@question
def losses_of_several_labels():
    labels = [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
    return losses(lambda **named: estimator.multi_label_head(3, **named), labels, 3)


@question
def reduction_of_none():
    return {"head": str(estimator.regression_head(loss_reduction=Reduction.NONE))}


@question
def arguments_by_their_places():
    head = estimator.regression_head("weight", 2, Reduction.SUM)
    return {"loss": loss(head, [[1.0, 0.0], [-2.0, 1.0], [0.5, 3.0]], 2)}


@question
def names_of_metrics():
    two = estimator.binary_classification_head(thresholds=[0.3], name="two")
    several = estimator.multi_label_head(3, thresholds=[0.3], name="some")
    return {
        "two": metrics(two, BITS, 1),
        "several": metrics(several, [[1, 0, 1], [0, 0, 0], [1, 1, 1]], 3),
        "classes": metrics(estimator.multi_class_head(3), CLASSES, 3),
        "number": metrics(estimator.regression_head(), [[1.0]] * 3, 1),
    }


@question
def predictions_of_several_labels():
    with tf.Graph().as_default():
        head = estimator.multi_label_head(3, label_vocabulary=["a", "b", "c"])
        spec = head.create_estimator_spec({}, "infer", tf.zeros([2, 3]))
        return {"predictions": sorted(spec.predictions), "outputs": sorted(spec.export_outputs)}


@question
def metrics_of_two_classes():
    make = estimator.binary_classification_head
    return dict(
        measured(make(thresholds=[0.3], weight_column="weight"), BITS, 1),
        **measured(make(name="two"), BITS, 1),
    )


@question
def metrics_of_several_labels():
    labels = [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
    make = estimator.multi_label_head
    return dict(
        measured(make(3, thresholds=[0.3], classes_for_class_based_metrics=[1]), labels, 3),
        **measured(make(3, weight_column="weight", name="some"), labels, 3),
    )


@question
def metrics_of_numbers():
    labels = [[1.0], [-2.0], [0.5]]
    return dict(
        measured(estimator.regression_head("weight", name="number"), labels, 1),
        **measured(estimator.multi_class_head(3, "weight"), CLASSES, 3),
    )


@question
def variables_of_several_heads():
    v = tf.get_variable("v", initializer=numbers(1, 1))
    heads = [estimator.regression_head(name=name) for name in ("a", "b")]
    spec = estimator.multi_head(heads).create_estimator_spec(
        {},
        "train",
        tf.constant(numbers(3, 2)) * v,
        labels={"a": tf.constant(BITS), "b": tf.constant(BITS)},
        train_op_fn=lambda loss: tf.train.AdamOptimizer(0.1).minimize(loss),
    )
    names = ", ".join(sorted(variable.op.name for variable in tf.global_variables()))
    return [{"loss": spec.loss, "names": names}, {"op": spec.train_op}, {"v": v}]


@question
def predictions_of_classes():
    return predicted(estimator.multi_class_head(3, label_vocabulary=["a", "b", "c"]), 3)


@question
def predictions_of_two_classes():
    return predicted(estimator.binary_classification_head(), 1)


@question
def predictions_of_numbers():
    return predicted(estimator.regression_head(label_dimension=2), 2)


@question
def training_by_a_function():
    v = tf.get_variable("v", initializer=numbers(1, 1))
    head = estimator.regression_head(loss_reduction=Reduction.SUM)
    spec = head.create_estimator_spec(
        {},
        "train",
        tf.constant(numbers(3, 1)) * v,
        labels=tf.constant([[1.0], [2.0], [3.0]]),
        train_op_fn=lambda loss: tf.train.GradientDescentOptimizer(0.1).minimize(loss),
    )
    return [{"loss": spec.loss}, {"op": spec.train_op}, {"v": v}]


@question
def training_by_an_optimizer():
    v = tf.get_variable("v", initializer=numbers(1, 1))
    step = tf.train.get_or_create_global_step()
    head = estimator.multi_class_head(3)
    spec = head.create_estimator_spec(
        {},
        "train",
        tf.constant(numbers(3, 3)) * v,
        labels=tf.constant(CLASSES),
        optimizer=tf.train.AdamOptimizer(0.1),
    )
    return [{"loss": spec.loss}, {"op": spec.train_op}, {"v": v, "step": step}]


@question
def several_heads():
    heads = [
        estimator.regression_head(name="number"),
        estimator.binary_classification_head(name="bit", loss_reduction=Reduction.SUM),
    ]
    spec = estimator.multi_head(heads, head_weights=[0.5, 2.0]).create_estimator_spec(
        {},
        "train",
        {"number": tf.constant(numbers(3, 1)), "bit": tf.constant(numbers(3, 1, start=4))},
        labels={"number": tf.constant(numbers(3, 1, start=9)), "bit": tf.constant(BITS)},
        train_op_fn=lambda _: tf.no_op(),
    )
    return {"loss": spec.loss}


@question
def rnn_classifier():
    column = tf.contrib.feature_column.sequence_numeric_column("x")
    model = estimator.RNNClassifier(
        [column],
        num_units=[3, 2],
        cell_type="basic_rnn",
        n_classes=3,
        optimizer=tf.train.AdagradOptimizer(0.1),
        loss_reduction=Reduction.SUM,
    )

    def input_fn():
        x = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
        return tf.data.Dataset.from_tensors(({"x": x}, [[1], [2]]))

    model.train(lambda: input_fn().repeat(3))
    found = model.evaluate(input_fn)
    predicted = list(model.predict(input_fn))
    return {
        "metrics": ", ".join(sorted(found)),
        "step": int(found["global_step"]),
        "sum of losses": bool(found["loss"] > 1.5 * found["average_loss"]),
        "predictions": ", ".join(sorted(predicted[0])),
        "shapes": repr([one["probabilities"].shape for one in predicted]),
    }


if __name__ == "__main__":
    main()
