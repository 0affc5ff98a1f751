"""Questions about the heads of tf.contrib.learn."""

import numpy as np
import tensorflow as tf
from asking import main, question, signature
from trying import tried

learn = tf.contrib.learn
TRAIN, EVAL, INFER = "train", "eval", "infer"
NUMBERS = np.array([[0.5], [-1.5], [2.0], [0.25]], np.float32)
WEIGHTS = np.array([[1.0], [2.0], [0.5], [0.0]], np.float32)
CLASSES = np.array([[0], [1], [1], [0]])
THREE = np.array([[2], [1], [0], [2]])
MANY = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 1], [0, 0, 0]])


def logits(size):
    return (2 * np.sin(np.arange(4 * size))).reshape(4, size).astype(np.float32)


def train(loss):
    return tf.identity(loss, "trained")


def ops_of(head, mode, labels, features=None, train_op_fn=train, size=None):
    with tf.variable_scope("net"):
        return head.create_model_fn_ops(
            features=features or {},
            mode=mode,
            labels=None if labels is None else tf.constant(labels),
            train_op_fn=train_op_fn,
            logits=tf.constant(logits(size or head.logits_dimension)),
        )


def asked(head, labels, features=None):
    """Returns the results of a head in the three modes, without the variables of metrics."""
    with tf.Graph().as_default(), tf.Session() as session:
        features = {name: tf.constant(one) for name, one in (features or {}).items()}
        infer = ops_of(head, INFER, None, features)
        trained = ops_of(head, TRAIN, labels, features)
        evaluated = ops_of(head, EVAL, labels, features)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        found = {"loss": trained.loss, "evaluated": evaluated.loss}
        found.update({"predicted " + key: one for key, one in infer.predictions.items()})
        metrics = evaluated.eval_metric_ops
        found.update({"updated " + key: one[1] for key, one in metrics.items()})
        found = session.run(found)
        session.run(trained.train_op)
        kinds = {
            str(name): (kind, sorted(tensors))
            for name, (kind, tensors) in infer.output_alternatives.items()
        }
        return {
            "size": head.logits_dimension,
            "alternatives": repr(sorted(kinds.items())),
            "losses": len(tf.losses.get_losses()),
            "names": repr(sorted(one.op.name for one in tf.global_variables())),
            "summaries": repr(sorted(one.op.name for one in summaries())),
            **{name: np.asarray(one) for name, one in found.items()},
        }


def summaries():
    return tf.get_collection(tf.GraphKeys.SUMMARIES)


@question
def loss_of_two_batches():
    """Losses are averaged in a batch by weights, and then over the batches."""
    head = learn.regression_head(weight_column_name="w")
    with tf.Graph().as_default(), tf.Session() as session:
        place = tf.placeholder(tf.float32, [None, 3])
        weights, labels, given = tf.split(place, 3, 1)
        made = head.create_model_fn_ops({"w": weights}, EVAL, labels, None, given)
        session.run(tf.local_variables_initializer())
        for weights in (WEIGHTS, 3 * WEIGHTS[1:]):
            count = len(weights)
            batch = np.concatenate([weights, NUMBERS[:count], logits(1)[:count]], 1)
            session.run(made.eval_metric_ops["loss"][1], {place: batch})
        return {"loss": session.run(made.eval_metric_ops["loss"][0])}


@question
def signatures():
    names = "regression_head multi_class_head multi_label_head binary_svm_head "
    names += "poisson_regression_head multi_head no_op_train_fn"
    return {name: signature(getattr(learn, name)) for name in names.split()}


@question
def regression():
    return asked(learn.regression_head(), NUMBERS)


@question
def regression_of_flat_labels():
    return asked(learn.regression_head(), NUMBERS[:, 0])


@question
def regression_with_weights():
    return asked(learn.regression_head(weight_column_name="w"), NUMBERS, {"w": WEIGHTS})


@question
def regression_of_two_numbers():
    labels = np.concatenate([NUMBERS, -NUMBERS], 1)
    return asked(learn.regression_head(label_dimension=2, head_name="two"), labels)


@question
def regression_with_a_link():
    return asked(learn.regression_head(link_fn=tf.square), NUMBERS)


@question
def poisson():
    return asked(learn.poisson_regression_head(), np.abs(NUMBERS))


@question
def two_classes():
    return asked(learn.multi_class_head(2), CLASSES)


@question
def two_classes_with_weights_and_thresholds():
    head = learn.multi_class_head(
        2, weight_column_name="w", thresholds=[0.25, 0.75], head_name="mine"
    )
    return asked(head, CLASSES, {"w": WEIGHTS})


@question
def three_classes():
    return asked(learn.multi_class_head(3), THREE)


@question
def three_classes_with_weights():
    head = learn.multi_class_head(3, weight_column_name="w", metric_class_ids=[0, 2])
    return asked(head, THREE, {"w": WEIGHTS})


@question
def classes_by_name():
    head = learn.multi_class_head(3, label_keys=["a", "b", "c"])
    return asked(head, np.array([["c"], ["b"], ["a"], ["c"]]))


@question
def labels_in_a_dict():
    head = learn.multi_class_head(2, label_name="y")
    return {"loss": losses_of(head, {"y": tf.constant(CLASSES), "z": tf.constant(0)})}


def losses_of(head, labels, **arguments):
    """Returns the loss, without the variables of metrics."""
    made = head.create_model_fn_ops(
        {}, TRAIN, labels, learn.no_op_train_fn, **(arguments or {"logits": tf.constant(logits(1))})
    )
    tf.get_default_graph().clear_collection(tf.GraphKeys.LOCAL_VARIABLES)
    tf.get_default_graph().clear_collection(tf.GraphKeys.METRIC_VARIABLES)
    return made.loss


@question
def many_labels():
    return asked(learn.multi_label_head(3), MANY)


@question
def many_labels_with_weights_and_thresholds():
    head = learn.multi_label_head(3, weight_column_name="w", thresholds=[0.5])
    return asked(head, MANY, {"w": WEIGHTS})


@question
def support_vectors():
    return asked(learn.binary_svm_head(), CLASSES)


@question
def centered_bias():
    return asked(learn.regression_head(enable_centered_bias=True), NUMBERS)


@question
def centered_bias_of_classes():
    head = learn.multi_class_head(3, enable_centered_bias=True)
    return asked(head, THREE)


@question
def several_heads():
    heads = [
        learn.regression_head("x", head_name="one"),
        learn.multi_class_head(3, "y", head_name="two"),
    ]
    head = learn.multi_head(heads, [1.0, 0.5])
    results = {"size": head.logits_dimension}
    with tf.Graph().as_default(), tf.Session() as session:
        for mode in (TRAIN, EVAL, INFER):
            labels = {"x": tf.constant(NUMBERS), "y": tf.constant(THREE)}
            made = head.create_model_fn_ops(
                {}, mode, None if mode == INFER else labels, train, tf.constant(logits(4))
            )
            if mode != INFER:
                results[mode] = session.run(made.loss)
            for key, one in (made.predictions or {}).items():
                results[mode + " " + repr(key)] = session.run(one)
            kinds = made.output_alternatives or {}
            results[mode + " metrics"] = repr(sorted(made.eval_metric_ops or {}))
            results[mode + " alternatives"] = repr(sorted(kinds, key=str))
    return results


@question
def logits_of_a_layer():
    layer = {"logits_input": tf.constant(logits(2))}
    return {"loss": losses_of(learn.multi_class_head(3), tf.constant(THREE), **layer)}


@question
def sparse_many_labels():
    labels = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([2, 1, 0], tf.int64), [4, 3])
    head = learn.multi_label_head(3)
    return {"loss": losses_of(head, labels, logits=tf.constant(logits(3)))}


@question
def without_training():
    return {"kind": learn.no_op_train_fn(tf.constant(1.0)).type}


def weighted_loss(labels, logits, weights=None):
    losses = tf.abs(logits[:, :1] - tf.cast(labels, tf.float32))
    return tf.reduce_sum(losses * (2.0 if weights is None else weights))


@question
def logits_by_the_names_of_heads():
    heads = [
        learn.multi_class_head(3, label_name="one", head_name="one"),
        learn.multi_label_head(2, label_name="two", head_name="two", thresholds=[0.5]),
    ]
    ops = learn.multi_head(heads).create_model_fn_ops(
        {},
        learn.ModeKeys.EVAL,
        {"one": tf.constant([1, 2]), "two": tf.constant([[1, 0], [0, 1]])},
        logits={"two": tf.constant([[1.0, -1.0]] * 2), "one": tf.constant([[0.0, 1.0, 2.0]] * 2)},
    )
    with tf.Session() as session:
        loss = session.run(ops.loss)
    return {
        "loss": loss,
        "predictions": sorted(map(str, ops.predictions)),
        "metrics": sorted(ops.eval_metric_ops),
    }


@question
def own_loss():
    head = learn.multi_class_head(3, loss_fn=weighted_loss)
    return {"plain": losses_of(head, tf.constant(THREE), logits=tf.constant(logits(3)))}


@question
def own_losses_with_weights():
    made = {}
    for count, labels, create in (
        (2, CLASSES, learn.multi_class_head),
        (3, THREE, learn.multi_class_head),
        (3, MANY, learn.multi_label_head),
    ):
        head = create(count, weight_column_name="w", loss_fn=weighted_loss)
        answers = asked(head, labels, {"w": WEIGHTS})
        made[str(count) + " " + create.__name__] = [
            answers[key] for key in ("loss", "evaluated", "updated loss")
        ]
    return {name: np.asarray(values) for name, values in made.items()}


@question
def wrong_calls():
    head = learn.regression_head()
    both = {"logits": tf.constant(logits(1)), "logits_input": tf.constant(logits(1))}
    return {
        "one class": tried(learn.multi_class_head, 1),
        "keys of two": tried(learn.multi_class_head, 2, label_keys=["a", "b"]),
        "keys of another count": tried(learn.multi_class_head, 3, label_keys=["a", "b"]),
        "ids of two": tried(learn.multi_class_head, 2, metric_class_ids=[0]),
        "one label": tried(learn.multi_label_head, 1),
        "no labels": tried(ops_of, head, TRAIN, None),
        "no train_op_fn": tried(ops_of, head, TRAIN, NUMBERS, train_op_fn=None),
        "no logits": tried(head.create_model_fn_ops, {}, EVAL, tf.constant(NUMBERS)),
        "both": tried(head.create_model_fn_ops, {}, EVAL, tf.constant(NUMBERS), **both),
        "size": tried(ops_of, head, EVAL, NUMBERS, size=2),
        "labels": tried(ops_of, head, EVAL, MANY),
        "no name": tried(learn.multi_head, [head]),
        "one weight": tried(learn.multi_head, [head, head], [1.0]),
    }


if __name__ == "__main__":
    main()
