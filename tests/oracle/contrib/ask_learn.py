"""Questions about tf.contrib.learn: RunConfig, Experiment, learn_runner and names."""

import os
import tempfile

import tensorflow as tf
from asking import differs, main, question, signature
from trying import tried

learn = tf.contrib.learn
SETTINGS = [
    "master", "evaluation_master", "model_dir", "save_checkpoints_secs", "save_checkpoints_steps",
    "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
    "save_summary_steps", "tf_random_seed", "task_id", "is_chief", "num_ps_replicas",
    "environment", "protocol", "session_config", "session_creation_timeout_secs", "device_fn",
    "train_distribute",
]  # fmt: skip


def shown(config):
    found = {name: repr(getattr(config, name)) for name in SETTINGS}
    options = config.tf_config
    found["tf_config"] = [
        options.inter_op_parallelism_threads,
        options.intra_op_parallelism_threads,
        options.log_device_placement,
        options.gpu_options.per_process_gpu_memory_fraction,
    ]
    return found


@question
def run_config():
    return dict(shown(learn.RunConfig()), signature=signature(learn.RunConfig))


@question
def run_config_values():
    given = [
        {"save_checkpoints_steps": 5}, {"save_checkpoints_secs": 60}, {"model_dir": "x"},
        {"save_checkpoints_steps": 5, "save_checkpoints_secs": None},
        {"num_cores": 3, "gpu_memory_fraction": 0.5, "log_device_placement": True},
        {"master": "a", "evaluation_master": "b"}, {"tf_random_seed": 5, "keep_checkpoint_max": 0},
        {"keep_checkpoint_every_n_hours": 3, "log_step_count_steps": None},
        {"other": 1},
    ]  # fmt: skip
    return {
        str(index): tried(lambda a=one: sorted(shown(learn.RunConfig(**a)).items()))
        for index, one in enumerate(given)
    }


@question
def run_config_replaced():
    config = learn.RunConfig(model_dir="x", save_checkpoints_secs=9)
    other = config.replace(save_checkpoints_steps=7)
    return dict(
        shown(other),
        kind=type(other).__name__,
        master=tried(config.replace, master="a"),
        directory=config.replace(model_dir="y").model_dir,
    )


@differs("roles are those of tf.estimator's RunConfig, where one process is a worker of one")
@question
def run_config_role():
    config = learn.RunConfig()
    return {"task": repr(config.task_type), "workers": config.num_worker_replicas}


@question
def names():
    kinds = {
        kind: sorted(
            (name, value)
            for name, value in vars(getattr(learn, kind)).items()
            if name.isupper() and isinstance(value, (str, int))
        )
        for kind in ("ModeKeys", "ProblemType", "PredictionKey")
    }
    return {name: repr(value) for name, value in kinds.items()}


@question
def model_fn_ops():
    loss = tf.constant(1.0)
    made = learn.ModelFnOps("train", {"a": loss}, loss, tf.no_op())
    rest = [made.eval_metric_ops, made.output_alternatives, made.training_hooks, made.scaffold]
    return {
        "mode": made.mode,
        "predictions": sorted(made.predictions),
        "rest": repr(rest),
        "no loss": tried(lambda: learn.ModelFnOps("train", {"a": loss}).mode),
        "no train_op": tried(lambda: learn.ModelFnOps("train", {"a": loss}, loss).mode),
        "no predictions": tried(lambda: learn.ModelFnOps("infer").mode),
        "evaluation": tried(lambda: learn.ModelFnOps("eval", {"a": loss}, loss).mode),
        "no loss in evaluation": tried(lambda: learn.ModelFnOps("eval", {"a": loss}).mode),
    }


def metric(labels, predictions, weights=None):
    return tf.metrics.accuracy(labels, predictions, weights)


@question
def metric_spec():
    labels, predictions = tf.constant([1, 0, 1]), tf.constant([1, 1, 1])
    features = {"w": tf.constant([1.0, 0.0, 2.0])}
    several = learn.MetricSpec(metric, prediction_key="p", label_key="l", weight_key="w")
    alone = learn.MetricSpec(metric)
    keys = [several.prediction_key, several.label_key, several.weight_key]
    by_names = several.create_metric_ops(features, {"l": labels}, {"p": predictions})
    one = alone.create_metric_ops(features, labels, predictions)
    of_dict = alone.create_metric_ops(features, {"l": labels}, {"p": predictions})
    return {"keys": keys, "named": by_names[1], "alone": one[1], "only ones": of_dict[1]}


@question
def metric_spec_of_other_names():
    def single(values):
        return tf.metrics.mean(values)

    def swapped(predictions, labels):
        return tf.metrics.mean(predictions - labels)

    def target(predictions, targets):
        return tf.metrics.mean(predictions - targets)

    labels, predictions = tf.constant([1.0, 0.0]), tf.constant([3.0, 4.0])
    answers = {}
    for name, function in [("single", single), ("swapped", swapped), ("target", target)]:
        answers[name] = learn.MetricSpec(function).create_metric_ops(None, labels, predictions)[1]
    return answers


@question
def metric_spec_that_fails():
    labels, predictions = tf.constant([1, 0]), {"a": tf.constant([1, 1]), "b": tf.constant([1, 1])}
    given = [{}, {"prediction_key": "c"}, {"prediction_key": "a", "label_key": "l"},
             {"prediction_key": "a", "weight_key": "w"}]  # fmt: skip
    return {
        str(index): tried(
            lambda a=one: (
                learn.MetricSpec(metric, **a).create_metric_ops({}, labels, predictions) and 1
            )
        )
        for index, one in enumerate(given)
    }


def counting(config=None):
    """Returns an estimator that counts the 21 batches of its input, and a list of its calls."""

    def model_fn(features, labels, mode):
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(features["x"])
        return tf.estimator.EstimatorSpec(
            mode,
            predictions=features,
            loss=loss,
            train_op=step.assign_add(1),
            eval_metric_ops={"mean": tf.metrics.mean(features["x"])},
            export_outputs={"serving_default": tf.estimator.export.PredictOutput(features)},
        )

    if config is not None:
        return tf.estimator.Estimator(model_fn, config=config)
    return tf.estimator.Estimator(model_fn, model_dir=tempfile.mkdtemp())


def batches():
    features = {"x": tf.constant([1.0, 2.0])}
    return tf.data.Dataset.from_tensors((features, tf.constant([1, 2]))).repeat(21)


def serving():
    x = tf.placeholder(tf.float32, [None])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def directories(path):
    kept = [one for one in os.listdir(path) if os.path.isdir(os.path.join(path, one))]
    return sorted(kept)


def experiment(**arguments):
    return learn.Experiment(counting(), batches, batches, **arguments)


def figures(results):
    return {name: float(value) for name, value in results.items()}


@question
def train_and_evaluate():
    made = experiment(train_steps=5, eval_steps=2)
    results, exported = made.train_and_evaluate()
    kept = directories(made.estimator.model_dir)
    return {"results": repr(sorted(figures(results).items())), "exported": exported, "kept": kept}


@question
def train_and_evaluate_often():
    made = experiment(train_steps=9, eval_steps=2, min_eval_frequency=3)
    results, exported = made.train_and_evaluate()
    return {"results": repr(sorted(figures(results).items())), "exported": repr(exported)}


@question
def train_and_export():
    strategy = learn.make_export_strategy(serving)
    made = experiment(train_steps=4, eval_steps=1, export_strategies=strategy)
    results, exported = made.train_and_evaluate()
    base = os.path.join(made.estimator.model_dir, "export")
    return {
        "strategy": strategy.name,
        "results": repr(sorted(figures(results).items())),
        "exported": [type(one).__name__ for one in exported],
        "kept": os.listdir(base),
        "count": len(os.listdir(os.path.join(base, "Servo"))),
    }


@question
def train_to_the_end():
    made = experiment()
    same = made.train() is made.estimator
    return {"same": same, "step": int(made.estimator.get_variable_value("global_step"))}


@question
def evaluate():
    made = experiment(train_steps=3, eval_delay_secs=0)
    made.train()
    results = made.evaluate()
    named = made.evaluate(name="other")
    return {
        "results": repr(sorted(figures(results).items())),
        "named": repr(sorted(figures(named).items())),
        "kept": directories(made.estimator.model_dir),
    }


@question
def test():
    made = experiment(train_steps=3)
    results = made.test()
    kept = directories(made.estimator.model_dir)
    return {"results": repr(sorted(figures(results).items())), "kept": kept}


@question
def local_run():
    results, exported = experiment(train_steps=3, eval_steps=1).local_run()
    return {"results": repr(sorted(figures(results).items())), "exported": repr(exported)}


@question
def continuous_train_and_eval():
    made = experiment(train_steps=8, train_steps_per_iteration=3, eval_steps=1)
    results, exported = made.continuous_train_and_eval()
    kept = directories(made.estimator.model_dir)
    return {"results": repr(sorted(figures(results).items())), "kept": kept}


@question
def continuous_eval():
    made = experiment(train_steps=3, eval_steps=1)
    made.train()
    seen = []

    def again(results):
        seen.append(sorted(results) if results else repr(results))
        return len(seen) < 3

    found = made.continuous_eval(
        delay_secs=0, throttle_delay_secs=0, continuous_eval_predicate_fn=again
    )
    kept = directories(made.estimator.model_dir)
    return {"seen": repr(seen), "found": repr(found), "kept": kept}


@question
def continuous_eval_ends():
    made = experiment(train_steps=3, eval_steps=1, continuous_eval_throttle_secs=0)
    made.train()
    return {"found": repr(made.continuous_eval(delay_secs=0, name="mine"))}


@question
def experiment_settings():
    made = experiment(train_steps=3)
    return {
        "steps": [made.train_steps, made.eval_steps],
        "extended": repr(made.extend_train_hooks([tf.train.StopAtStepHook(2)])),
        "old": repr(made.reset_export_strategies()),
        "trained": int(made.train().get_variable_value("global_step")),
        "signature": signature(learn.Experiment),
        "estimator": tried(lambda: learn.Experiment(5, batches, batches) and 1),
        "metrics": tried(lambda: experiment(eval_metrics={"a": 1}) and 1),
    }


def run(function, *arguments, **named):
    """Type and step of what a run comes to."""
    found = learn.learn_runner.run(function, *arguments, **named)
    found = found[0] if isinstance(found, tuple) else found
    if isinstance(found, dict):
        return int(found["global_step"])
    return int(found.get_variable_value("global_step"))


@question
def runner_of_directory():
    def build(output_dir):
        return experiment(train_steps=3, eval_steps=1)

    schedules = [None, "train_and_evaluate", "train", "test", "local_run", "nothing", "_train"]
    return {str(one): tried(run, build, "directory", one) for one in schedules}


@question
def runner_of_config():
    config = learn.RunConfig(model_dir=tempfile.mkdtemp())
    seen = []

    def build(run_config, hparams):
        seen.append([type(run_config).__name__, str(hparams)])
        return learn.Experiment(counting(run_config), batches, batches, train_steps=3, eval_steps=1)

    hparams = tf.contrib.training.HParams(a=1)
    return {
        "results": run(build, run_config=config, hparams=hparams),
        "trained": run(build, run_config=config, schedule="train"),
        "seen": repr(seen),
    }


@question
def runner_that_fails():
    def build(output_dir):
        return experiment(train_steps=3, eval_steps=1)

    def other(output_dir):
        return 5

    config = learn.RunConfig(model_dir=tempfile.mkdtemp())
    hparams = tf.contrib.training.HParams(a=1)
    given = [
        {}, {"output_dir": "d", "run_config": config}, {"output_dir": ""},
        {"run_config": learn.RunConfig()}, {"run_config": 5},
        {"output_dir": "d", "hparams": hparams},
        {"run_config": config, "hparams": 5},
    ]  # fmt: skip
    answers = {str(index): tried(run, build, **one) for index, one in enumerate(given)}
    answers["no function"] = tried(run, 5, "d")
    answers["no experiment"] = tried(run, other, "d")
    return answers


@question
def input_fn_utils():
    from tensorflow.contrib.learn.python.learn.utils import (  # noqa: PLC0415
        input_fn_utils,
        saved_model_export_utils,
    )

    parsing = input_fn_utils.build_parsing_serving_input_fn(
        {"a": tf.io.FixedLenFeature([2], "int64")}
    )
    parsed = parsing()
    given = {"b": tf.zeros([3, 2]), "c": tf.zeros([3], tf.int64)}
    default = input_fn_utils.build_default_serving_input_fn(given, 4)()
    return {
        "fields": repr(input_fn_utils.InputFnOps._fields),
        "parsed": repr((sorted(parsed.features), parsed.labels, sorted(parsed.default_inputs))),
        "shapes": repr([default.features[name].shape.as_list() for name in sorted(given)]),
        "types": repr([default.default_inputs[name].dtype.name for name in sorted(given)]),
        "same": learn.InputFnOps is input_fn_utils.InputFnOps,
        "strategy": callable(saved_model_export_utils.make_export_strategy),
        "paths": learn.utils.input_fn_utils.InputFnOps is learn.InputFnOps,
    }


@question
def maybe_download():
    from tensorflow.contrib.learn.python.learn.datasets import base  # noqa: PLC0415

    source = os.path.join(tempfile.mkdtemp(), "source.txt")
    with open(source, "w") as file:
        file.write("first")
    folder = os.path.join(tempfile.mkdtemp(), "new")
    path = base.maybe_download("copy.txt", folder, "file://" + source)
    with open(source, "w") as file:
        file.write("second")
    again = base.maybe_download("copy.txt", folder, "file://" + source)
    with open(again) as file:
        text = file.read()
    return {"text": text, "same": path == again, "name": os.path.relpath(path, folder)}


if __name__ == "__main__":
    main()
