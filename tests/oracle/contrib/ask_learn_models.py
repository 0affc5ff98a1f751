"""Questions about the models, operations and export strategies of tf.contrib.learn."""

import json
import os

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from tensorflow.contrib.learn.python.learn.estimators import run_config
from tensorflow.contrib.learn.python.learn.utils import saved_model_export_utils
from trying import tried

learn = tf.contrib.learn
LABELS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], np.float32)


@question
def signatures():
    found = {
        name: signature(getattr(learn.models, name))
        for name in (
            "linear_regression",
            "linear_regression_zero_init",
            "logistic_regression",
            "logistic_regression_zero_init",
        )
    }
    found.update(
        {
            name: signature(getattr(learn.ops, name))
            for name in (
                "categorical_variable",
                "embedding_lookup",
                "mean_squared_error_regressor",
                "softmax_classifier",
            )
        }
    )
    found.update(
        {
            name: signature(getattr(saved_model_export_utils, name))
            for name in (
                "make_best_model_export_strategy",
                "make_export_strategy",
                "make_parsing_export_strategy",
            )
        }
    )
    return found


def both(pair):
    return {"predictions": pair[0], "loss": pair[1]}


def inputs():
    return tf.constant(numbers(2, 4))


@question
def linear_regression():
    return both(learn.models.linear_regression(inputs(), tf.constant(numbers(2))))


@question
def linear_regression_of_two_numbers():
    return both(learn.models.linear_regression(inputs(), tf.constant(numbers(2, 2))))


@question
def linear_regression_from_zero():
    return both(learn.models.linear_regression_zero_init(inputs(), tf.constant(numbers(2))))


@question
def linear_regression_in_a_scope():
    with tf.variable_scope("mine"):
        return both(learn.models.linear_regression(inputs(), tf.constant(numbers(2)), 0.5, 0.0))


@question
def logistic_regression():
    return both(learn.models.logistic_regression(inputs(), tf.constant(LABELS)))


@question
def logistic_regression_with_class_weights():
    weights = [0.5, 1.0, 2.0]
    made = learn.models.logistic_regression(inputs(), tf.constant(LABELS), class_weight=weights)
    return both(made)


@question
def logistic_regression_from_zero():
    return both(learn.models.logistic_regression_zero_init(inputs(), tf.constant(LABELS)))


@question
def regressor():
    weights, biases = tf.constant(numbers(4, 2)), tf.constant(numbers(2))
    labels = tf.constant(numbers(2, 2, start=3))
    return both(learn.ops.mean_squared_error_regressor(inputs(), labels, weights, biases))


@question
def classifier():
    weights, biases = tf.constant(numbers(4, 3)), tf.constant(numbers(3))
    return both(learn.ops.softmax_classifier(inputs(), tf.constant(LABELS), weights, biases))


@question
def embedded():
    words = tf.constant([[0, 2], [1, 1]])
    output = learn.ops.categorical_variable(words, 3, 2, "words")
    return {"output": output, "shape": str(output.shape)}


@question
def looked_up():
    output = learn.ops.embedding_lookup(tf.constant(numbers(3, 2)), tf.constant([[0, 2], [1, 1]]))
    return {"output": output, "shape": str(output.shape)}


def clustered(config, **arguments):
    os.environ["TF_CONFIG"] = json.dumps(config)
    try:
        made = run_config.ClusterConfig(**arguments)
        names = "evaluation_master is_chief num_ps_replicas task_id environment"
        found = {name: getattr(made, name) for name in names.split()}
        return repr([sorted(found.items()), run_config.ClusterConfig.get_task_id()])
    finally:
        del os.environ["TF_CONFIG"]


@question
def cluster_config():
    cluster = {"ps": ["a:1", "b:1"], "worker": ["c:1", "d:1"], "master": ["e:1"]}
    worker = {"cluster": cluster, "task": {"type": "worker", "index": 1}, "environment": "cloud"}
    return {
        "local": clustered({}),
        "worker": clustered(worker),
        "given": clustered(worker, master="x:1", evaluation_master="y:2"),
        "is": issubclass(learn.RunConfig, run_config.ClusterConfig),
    }


@question
def export_strategies():
    """An export function gets those arguments that it takes by name."""

    def exported(function, *arguments):
        strategy = learn.ExportStrategy("mine", function, *arguments)
        return repr(
            [strategy.name, tried(strategy.export, 1, 2, 3, 4), tried(strategy.export, 1, 2)]
        )

    return {
        "two": exported(lambda estimator, path: [estimator, path]),
        "four": exported(
            lambda estimator, path, checkpoint_path, eval_result: [
                estimator,
                path,
                checkpoint_path,
                eval_result,
            ]
        ),
        "other": exported(lambda estimator, path, checkpoint: checkpoint),
        "stripped": exported(
            lambda estimator, path, strip_default_attrs: strip_default_attrs, True
        ),
        "made": saved_model_export_utils.make_export_strategy(None).name,
    }


if __name__ == "__main__":
    main()
