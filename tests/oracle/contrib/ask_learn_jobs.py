"""Questions about tf.contrib.learn: metrics of an Experiment, tuners, generators as input."""

import json
import os
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, question, signature
from tensorflow.contrib.training.python.training import tuner
from trying import tried

learn, layers = tf.contrib.learn, tf.contrib.layers
X = np.sin(np.arange(20)).reshape(10, 2).astype(np.float32)
LABELS = np.array([0, 1] * 5)[:, None]


def batch():
    return {"x": tf.constant(X)}, tf.constant(LABELS)


def experiment(metrics):
    config = learn.RunConfig(model_dir=tempfile.mkdtemp())
    made = learn.LinearClassifier([layers.real_valued_column("x", 2)], config=config)
    return learn.Experiment(made, batch, batch, metrics, 3, 1)


def figures(results):
    return {name: float(value) for name, value in results.items()}


def specs():
    accuracy, mean = tf.contrib.metrics.streaming_accuracy, tf.contrib.metrics.streaming_mean
    return {
        "own": learn.MetricSpec(accuracy, prediction_key="classes"),
        "mean": learn.MetricSpec(mean, prediction_key="logistic"),
    }


@question
def metrics_of_train_and_evaluate():
    made = experiment(specs())
    results = figures(made.train_and_evaluate()[0])
    return {name: results[name] for name in ("own", "mean", "accuracy", "global_step")}


@question
def metrics_of_evaluate_and_test():
    made = experiment(specs())
    made.train()
    evaluated, tested = figures(made.evaluate()), figures(made.test())
    names = ("own", "mean", "global_step")
    return {
        "evaluated": [evaluated[name] for name in names],
        "tested": [tested[name] for name in names],
    }


@question
def metrics_of_pairs():
    made = experiment({("own", "classes"): tf.contrib.metrics.streaming_accuracy})
    return {"own": made.train_and_evaluate()[0]["own"]}


@question
def metrics_of_continuous_training():
    made = experiment(specs())
    return {"own": made.continuous_train_and_eval()[0]["own"]}


@question
def metrics_of_another_estimator():
    made = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x", 2)])
    return {"refused": tried(learn.Experiment, made, batch, batch, specs())}


def task_of(cluster, kind, index):
    """What a RunConfig shows of a task; the variable is set as before afterwards."""
    before = os.environ.get("TF_CONFIG")
    task = {"type": kind, "index": index}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": task})
    try:
        config = learn.RunConfig()
    finally:
        os.environ.pop("TF_CONFIG")
        if before is not None:
            os.environ["TF_CONFIG"] = before
    counts = [config.num_ps_replicas, config.num_worker_replicas]
    return repr([config.is_chief, config.task_id, config.master, *counts])


@question
def cluster_without_a_chief():
    cluster = {"ps": ["a:1"], "worker": ["b:1", "c:1", "d:1"]}
    tasks = [("worker", 0), ("worker", 1), ("worker", 2)]
    return {kind + str(index): task_of(cluster, kind, index) for kind, index in tasks}


@question
def workers_alone():
    return {
        "first": task_of({"worker": ["b:1", "c:1"]}, "worker", 0),
        "second": task_of({"worker": ["b:1", "c:1"]}, "worker", 1),
    }


@question
def one_worker():
    return {"first": task_of({"ps": ["a:1", "b:1"], "worker": ["c:1"]}, "worker", 0)}


class Tuner(tuner.Tuner):
    trials = 0

    def __init__(self):
        self.calls = []

    def next_trial(self):
        self.calls.append("next")
        return len(self.calls) < 5

    def run_experiment(self, experiment_fn):
        config = learn.RunConfig(model_dir=tempfile.mkdtemp())
        made = experiment_fn(config, tf.contrib.training.HParams(rate=1.0))
        self.calls.append(type(made).__name__)


@question
def tuning():
    calls = Tuner()
    given = []

    def experiment_fn(run_config, hparams):
        given.append(hparams.rate)
        config = [layers.real_valued_column("x", 2)]
        return learn.Experiment(learn.LinearClassifier(config, config=run_config), batch, batch)

    returned = learn.learn_runner.tune(experiment_fn, calls)
    return {"returned": repr(returned), "calls": calls.calls, "given": given}


@question
def tuner_is_abstract():
    return {
        "made": tried(tuner.Tuner),
        "names": sorted(n for n in dir(tuner.Tuner) if n[0] != "_"),
        "tune": signature(learn.learn_runner.tune),
    }


def rows():
    for i in range(5):
        yield {"a": np.array([i, i + 1]), "b": np.array("s" + str(i)), "label": np.array(i)}


def growing():
    for i in range(1, 4):
        yield {"a": np.arange(i), "label": np.array(i)}


def read(generator, count, **arguments):
    """Batches of an input function until its end, without its own graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        given = learn.io.generator_input_fn(generator, **arguments)()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        batches = []
        try:
            while len(batches) < count:
                batches.append(session.run(given))
        except tf.errors.OutOfRangeError:
            batches.append("end")
        coordinator.request_stop()
        coordinator.join(threads, ignore_live_threads=True)
    return repr([plain(one) for one in batches])


def plain(value):
    if isinstance(value, dict):
        return sorted((key, plain(one)) for key, one in value.items())
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    return value if isinstance(value, str) else value.tolist()


ORDERED = {"shuffle": False}


@question
def generated():
    return {
        "label": read(rows, 9, target_key="label", batch_size=2, **ORDERED),
        "labels": read(rows, 9, target_key=["label", "b"], batch_size=3, **ORDERED),
        "one label": read(rows, 9, target_key=["label"], batch_size=3, **ORDERED),
        "none": read(rows, 9, batch_size=3, **ORDERED),
        "epochs": read(rows, 9, target_key="label", batch_size=4, num_epochs=2, **ORDERED),
        "no end": read(rows, 4, target_key="label", batch_size=4, num_epochs=None, **ORDERED),
        "padded": read(growing, 9, target_key="label", batch_size=2, pad_value=7, **ORDERED),
    }


@question
def generated_shuffled():
    found = read(rows, 1, target_key="label", batch_size=5, shuffle=True)
    return {"rows": len(found) > 0, "signature": signature(learn.io.generator_input_fn)}


@question
def generators_refused():
    def made(*arguments, **named):
        return tried(lambda: learn.io.generator_input_fn(*arguments, **named)())

    return {
        "list": made([1, 2]),
        "number": made(rows, target_key=3),
        "numbers": made(rows, target_key=["label", 3]),
        "unknown": made(rows, target_key="other"),
        "unknowns": made(rows, target_key=["label", "other"]),
        "generator": made(rows()),
        "iterator": made(lambda: iter([1])),
    }


if __name__ == "__main__":
    main()
