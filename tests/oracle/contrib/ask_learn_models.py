"""Questions about tf.contrib.learn: linear models, ops, shuffled arrays, exports, addresses."""

import json
import os

import tensorflow as tf
from asking import main, numbers, question, signature
from tensorflow.contrib.learn.python.learn.estimators import run_config
from trying import tried

learn = tf.contrib.learn
X = numbers(4, 3)
Y = numbers(4, start=20)


def summarized(outputs):
    """Predictions, loss, and the names of summaries and losses."""
    graph = tf.get_default_graph()
    return {
        "outputs": list(outputs),
        "names": [one.name for one in outputs],
        "summaries": [one.name for one in graph.get_collection("summaries")],
        "losses": [one.name for one in graph.get_collection("losses")],
    }


@question
def linear():
    return summarized(learn.models.linear_regression(tf.constant(X), tf.constant(Y)))


@question
def linear_of_more_outputs():
    labels = tf.constant(numbers(4, 2, start=3))
    return summarized(learn.models.linear_regression(tf.constant(X), labels, init_mean=1.0))


@question
def linear_of_float64():
    x, y = tf.constant(X, tf.float64), tf.constant(Y, tf.float64)
    return summarized(learn.models.linear_regression_zero_init(x, y))


@question
def logistic():
    labels = tf.one_hot([0, 1, 2, 1], 3)
    return summarized(learn.models.logistic_regression(tf.constant(X), labels))


@question
def logistic_of_integer_labels():
    labels = tf.one_hot([0, 1, 1, 1], 2, 1, 0)
    return summarized(learn.models.logistic_regression_zero_init(tf.constant(X), labels))


@question
def ops():
    weights, biases = tf.constant(numbers(3, 2, start=5)), tf.constant(numbers(2, start=9))
    labels = tf.one_hot([0, 1, 1, 0], 2)
    return [
        summarized(learn.ops.softmax_classifier(tf.constant(X), labels, weights, biases)),
        summarized(
            learn.ops.softmax_classifier(
                tf.constant(X), labels, weights, biases, class_weight=tf.constant([0.3, 2.0])
            )
        ),
        summarized(
            learn.ops.mean_squared_error_regressor(tf.constant(X), labels, weights, biases, "named")
        ),
        {"rows": learn.ops.embedding_lookup(tf.constant(X), tf.constant([[0, 3], [2, 2]]))},
        {"category": learn.ops.categorical_variable(tf.constant([[1], [0]]), 2, 3, "kind")},
    ]


@question
def signatures():
    functions = [
        learn.io.numpy_input_fn, learn.io.pandas_input_fn, learn.models.linear_regression,
        learn.models.logistic_regression, learn.ops.softmax_classifier,
        learn.ops.mean_squared_error_regressor, learn.ops.categorical_variable,
        learn.ExportStrategy,
    ]  # fmt: skip
    return {function.__name__: signature(function) for function in functions}


def epoch(*arguments, **named):
    """All labels of the passes, sorted."""
    with tf.Graph().as_default():
        _, labels = learn.io.numpy_input_fn({"x": X}, Y, *arguments, **named)()
        with tf.train.MonitoredSession() as session:
            rows = []
            while not session.should_stop():
                rows.extend(session.run(labels).tolist())
    return sorted(format(row, ".5f") for row in rows)


@question
def numpy_input():
    return {
        "default": tried(epoch),
        "positions": tried(epoch, 3, 2, False),
        "named": tried(epoch, batch_size=2, shuffle=False),
        "none": tried(epoch, shuffle=None),
    }


@question
def export_strategies():
    def accepts_all(estimator, path, checkpoint_path, eval_result=None, strip_default_attrs=None):
        return [estimator, path, checkpoint_path, eval_result, strip_default_attrs]

    def make(function, *arguments):
        return learn.ExportStrategy("name", function, *arguments)

    return {
        "name": make(accepts_all).name,
        "all": str(make(accepts_all, True).export("e", "p", "c", {"loss": 1})),
        "two": str(make(lambda estimator, path: [estimator, path]).export("e", "p", "c", {})),
        "defaults": str(make(accepts_all).export("e", "p")),
    }


def addresses(task, environment="cloud", **cluster):
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": cluster, "task": task, "environment": environment}
    )
    try:
        config = run_config.ClusterConfig()
    finally:
        del os.environ["TF_CONFIG"]
    return [config.master, config.task_id, config.num_ps_replicas, config.task_type,
            config.is_chief, config.get_task_id()]  # fmt: skip


@question
def cluster_config():
    alone = run_config.ClusterConfig(master="a", evaluation_master="b")
    master = {"ps": ["h:1", "h:2"], "master": ["h:3"], "worker": ["h:4", "h:5"]}
    return {
        "alone": [alone.master, alone.evaluation_master],
        "master": str(addresses({"type": "master", "index": 0}, **master)),
        "worker": str(addresses({"type": "worker", "index": 1}, **master)),
        "ps": str(addresses({"type": "ps", "index": 1}, **master)),
    }


if __name__ == "__main__":
    main()
