"""Questions about k-means and mixtures of tf.contrib.factorization, and the metrics of points."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import main, question, signature
from trying import tried

factorization, metrics = tf.contrib.factorization, tf.contrib.metrics
X = np.array([[1, 2.1], [1.3, 4.1], [1.2, 0], [10.1, 2.1], [10, 4], [10.3, 0.2]], np.float32)
FIRST = np.array([[1, 2], [10, 1]], np.float32)


def in_session(build, count):
    """Results of a graph of its own, run several times."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetched, operations = build()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for operation in operations:
            session.run(operation)
        found = [session.run(fetched) for _ in range(count)]
    return np.concatenate([np.ravel(np.asarray(part, np.float64)) for run in found for part in run])


def k_means(**arguments):
    def build():
        points = tf.constant(X)
        graph = factorization.KMeans(points, 2, FIRST, **arguments).training_graph()
        everything, index, nearest, _, init_op, train_op = graph
        return [everything[0], index[0], nearest[0]], [init_op, *[train_op] * 3]

    return {"found": in_session(build, 1)}


@question
def k_means_of_all_points():
    return k_means()


@question
def k_means_of_directions():
    return k_means(distance_metric="cosine")


@question
def k_means_chosen():
    """Two groups far from each other: each choice of k-means++ leads to their means."""

    def build():
        points = tf.concat([tf.constant(X), tf.constant(X) + [[100.0, 0.0]]], 0)
        made = factorization.KMeans(points, 2, "kmeans_plus_plus", random_seed=3)
        _, _, nearest, initialized, init_op, train_op = made.training_graph()
        return [tf.reduce_sum(nearest[0])], [init_op, train_op, train_op, train_op, train_op]

    return {"found": in_session(build, 1)}


@question
def k_means_refusals():
    return {
        "first": tried(factorization.KMeans, X, 2, "other"),
        "signature": signature(factorization.KMeans),
    }


def mixture(covariance_type):
    with tf.Graph().as_default(), tf.Session() as session:
        graph = factorization.gmm(tf.constant(X), FIRST, 2, 0, covariance_type)
        loss, scores, assignments, train_op, init_op, initialized = graph
        session.run(tf.global_variables_initializer())
        session.run(init_op)
        found = []
        for _ in range(3):
            found.append(session.run({"loss": loss, "scores": scores, "assigned": assignments}))
            session.run(train_op)
        values = session.run({one.op.name: one for one in tf.global_variables()})
        done = bool(session.run(initialized))
    flat = {
        str(step) + key: np.asarray(value, np.float64)
        for step, results in enumerate(found)
        for key, value in results.items()
    }
    values.pop("initialized")
    return dict(flat, done=done, **values)


@question
def mixture_of_covariances():
    return mixture("full")


@question
def mixture_of_variances():
    return mixture("diag")


@question
def mixture_estimator():
    made = factorization.GMM(2, tempfile.mkdtemp(), initial_clusters=FIRST)

    def given():
        return tf.constant(X), None

    made.fit(input_fn=given, steps=3)
    evaluated = made.evaluate(input_fn=given, steps=1)
    names = [name for name in made.get_variable_names() if name != "initialized"]
    return dict(
        {name: made.get_variable_value(name) for name in names},
        clusters_found=made.clusters(),
        covariances=made.covariances(),
        weights=made.weights(),
        score=made.score(input_fn=given, steps=1),
        assignments=list(made.predict_assignments(input_fn=given)),
        keys=sorted(evaluated),
        scores=evaluated["scores"],
        predicted=sorted(next(iter(made.predict(input_fn=given)))),
        signature=signature(factorization.GMM),
    )


@question
def mixture_when_the_input_ends():
    def trained(batches):
        def once():
            data = tf.data.Dataset.from_tensors(X).repeat(batches)
            return tf.compat.v1.data.make_one_shot_iterator(data).get_next(), None

        made = factorization.GMM(2, tempfile.mkdtemp(), initial_clusters=FIRST)
        made.fit(input_fn=once, steps=9)
        return made

    made = {batches: trained(batches) for batches in (1, 3)}
    return {
        **{f"steps {n}": float(one.get_variable_value("global_step")) for n, one in made.items()},
        **{f"means {n}": one.clusters() for n, one in made.items()},
    }


def concatenated(**arguments):
    def build():
        value, update = metrics.streaming_concat(tf.constant([[1, 2], [3, 4]]), **arguments)
        return [value], [update, update]

    return in_session(build, 1)


@question
def concatenation():
    def counts():
        _, update = metrics.streaming_concat(tf.constant([[1, 2], [3, 4]]), max_size=3)
        return [update], []

    return {
        "rows": concatenated(),
        "columns": concatenated(axis=1, max_size=3),
        "limited": concatenated(max_size=3),
        "counts": in_session(counts, 3),
        "axis": tried(metrics.streaming_concat, tf.constant([[1]]), axis=2),
        "scalar": tried(metrics.streaming_concat, tf.constant(1.0)),
        "rank": tried(metrics.streaming_concat, tf.placeholder(tf.float32)),
        "signature": signature(metrics.streaming_concat),
    }


LABELS = np.array([1, 0, 1, 1, 0, 0, 1, 0]) > 0
PREDICTIONS = np.array([0.9, 0.8, 0.7, 0.3, 0.2, 0.6, 0.55, 0.1], np.float32)
WEIGHTS = np.array([1, 2, 1, 1, 0.5, 1, 1, 1], np.float32)


@question
def roc_points():
    value, update = metrics.streaming_curve_points(LABELS, PREDICTIONS, num_thresholds=5)
    return [{"updated": update}, {"value": value}] * 2


@question
def precision_recall_points():
    value, update = metrics.streaming_curve_points(
        LABELS, PREDICTIONS, WEIGHTS, num_thresholds=5, curve="PR"
    )
    return [{"updated": update}, {"value": value}] * 2


@question
def unknown_curve():
    return {"refused": tried(metrics.streaming_curve_points, LABELS, PREDICTIONS, curve="X")}


def equal_thresholds(weights=None):
    def build():
        data, update = metrics.precision_recall_at_equal_thresholds(
            tf.constant(LABELS),
            tf.constant(PREDICTIONS),
            None if weights is None else tf.constant(weights),
            num_thresholds=5,
        )
        return list(data), [update, update]

    return {"found": in_session(build, 1)}


@question
def equal_thresholds_unweighted():
    return equal_thresholds()


@question
def equal_thresholds_weighted():
    return equal_thresholds(WEIGHTS)


if __name__ == "__main__":
    main()
