"""Questions about private names of tf.estimator's modules, which programs and libraries import."""

import importlib

import tensorflow as tf
from asking import main, numbers, question
from trying import tried

ROOT = "tensorflow.python.estimator."
OTHER_ROOT = "tensorflow_estimator.python.estimator."
MODULES = [
    "canned.baseline", "canned.boosted_trees", "canned.dnn", "canned.dnn_linear_combined",
    "canned.dnn_testing_utils", "canned.head", "canned.kmeans", "canned.linear",
    "canned.linear_testing_utils", "canned.metric_keys", "canned.optimizers",
    "canned.parsing_utils", "canned.prediction_keys", "canned.saved_model_estimator",
    "canned.timeseries.ar_model", "canned.timeseries.feature_keys", "canned.timeseries.head",
    "early_stopping", "estimator", "export.export", "export.export_output", "exporter", "gc",
    "head.base_head", "head.multi_head", "head.multi_label_head", "head.sequential_head",
    "hooks.fake_summary_writer", "inputs.numpy_io", "inputs.queues.feeding_functions", "keras",
    "mode_keys", "model_fn", "run_config", "tools.checkpoint_converter", "tpu.error_handling",
    "tpu.tpu_estimator", "tpu.util", "training", "util",
]  # fmt: skip


def load(name, root=OTHER_ROOT):
    return importlib.import_module(root + name)


@question
def modules_that_import():
    return {name: tried(lambda name=name: load(name) is not None) for name in MODULES}


@question
def old_path():
    head = load("canned.head", ROOT)
    return {"key": head._DEFAULT_SERVING_KEY, "spec": repr(head.LossSpec._fields)}


@question
def constants():
    head, base = load("canned.head"), load("head.base_head")
    names = ("DEFAULT", "CLASSIFY", "REGRESS", "PREDICT")
    task, training = load("run_config").TaskType, load("training")
    return {
        "v1": repr([getattr(head, "_" + name + "_SERVING_KEY") for name in names]),
        "v2": repr([getattr(base, name + "_SERVING_KEY") for name in names]),
        "tasks": repr((task.MASTER, task.PS, task.WORKER, task.CHIEF, task.EVALUATOR)),
        "delay": training._DELAY_SECS_PER_WORKER,
        "api": repr([one.value for one in load("tpu.tpu_estimator").ExportSavedModelApiVersion]),
        "batch": repr(load("tpu.tpu_estimator").BatchConfig(1, 2, 3, [2])),
        "result": repr(training._EvalResult("evaluated", {"loss": 1, "global_step": 2}, "path")),
        "listener": repr(training._ContinuousEvalListener().before_eval()),
    }


@question
def classes_of_heads():
    found = {}
    logits = tf.constant(numbers(2, 3))
    for prefix, module in (("v1 ", load("canned.head")), ("v2 ", load("head.base_head"))):
        start = "_" if prefix == "v1 " else ""
        output = getattr(module, start + "classification_output")(logits, 3, ["a", "b", "c"])
        found[prefix + "scores"], found[prefix + "classes"] = output.scores, output.classes
        found[prefix + "ids"] = getattr(module, start + "all_class_ids")(logits, 3)
        found[prefix + "names"] = getattr(module, start + "all_classes")(logits, 3)
    return found


@question
def labels_and_weights():
    head, base = load("canned.head"), load("head.base_head")
    logits = tf.constant(numbers(2, 3))
    features = {"w": tf.constant([0.5, 2.0])}
    labels = base.check_dense_labels_match_logits_and_reshape(tf.constant([1, 2]), logits, 1)
    return {
        "labels": labels,
        "logits": head._check_logits_final_dim(logits, 3),
        "weights": head._get_weights_and_check_match_logits(features, "w", logits),
        "none": head._get_weights_and_check_match_logits(features, None, logits),
        "wrong": tried(lambda: head._check_logits_final_dim(logits, 4)),
        "key": head._summary_key("head", "loss"),
        "no name": head._summary_key(None, "loss"),
    }


def spec_of(mode, head, model_fn, **named):
    columns = [tf.feature_column.numeric_column("x", 2)]
    features = {"x": tf.constant(numbers(4, 2))}
    labels = tf.constant([[1], [0], [1], [1]])
    config = tf.estimator.RunConfig()
    tf.compat.v1.train.get_or_create_global_step()
    return model_fn(features, labels, mode, head, feature_columns=columns, config=config, **named)


@question
def dnn_model_fn():
    head = load("canned.head")._binary_logistic_or_multi_class_head(2, None, None, "weighted_sum")
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
    function = load("canned.dnn")._dnn_model_fn
    spec = spec_of("train", head, function, hidden_units=[3], optimizer=optimizer)
    return [{"loss": spec.loss}, {"train": spec.train_op}, {"after": spec.loss}]


@question
def linear_model_fn():
    head = load("canned.head")._binary_logistic_or_multi_class_head(3, None, None, "weighted_sum")
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
    function = load("canned.linear")._linear_model_fn
    spec = spec_of("train", head, function, optimizer=optimizer, partitioner=None)
    return [{"loss": spec.loss}, {"train": spec.train_op}, {"after": spec.loss}]


@question
def checks():
    estimator, training = load("estimator"), load("training")
    config = tf.estimator.RunConfig(model_dir="a")
    overwrite = estimator.maybe_overwrite_model_dir_and_session_config
    util = load("tpu.util")
    return {
        "params": tried(estimator._verify_model_fn_args, lambda features: 0, {"a": 1}),
        "no features": tried(estimator._verify_model_fn_args, lambda labels: 0, None),
        "good": tried(estimator._verify_model_fn_args, lambda features, params: 0, {}),
        "same dir": overwrite(config, "a").model_dir,
        "new dir": overwrite(None, "b").model_dir,
        "other dir": tried(overwrite, config, "b"),
        "no config": tried(overwrite, {}, None),
        "eval_spec": tried(training._assert_eval_spec, 3),
        "positive": tried(util.check_positive_integer, 3, "n"),
        "zero": tried(util.check_positive_integer, 0, "n"),
        "float": tried(util.check_positive_integer, 2.5, "n"),
    }


@question
def supervised_receiver():
    export = load("export.export")

    def input_fn(size):
        return {"x": tf.zeros([size, 2])}, tf.zeros([size], tf.int64)

    make = export.build_supervised_input_receiver_fn_from_input_fn(input_fn, size=3)
    receiver = make()
    return {
        "fields": repr(export.SupervisedInputReceiver._fields),
        "keys": repr(sorted(receiver.receiver_tensors)),
        "labels": receiver.labels.dtype.name,
    }


if __name__ == "__main__":
    main()
