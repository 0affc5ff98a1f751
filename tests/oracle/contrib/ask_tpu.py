"""Questions about tf.contrib.tpu."""

import functools
import glob
import os
import tempfile

import numpy as np
import tensorflow as tf
from asking import differs, main, numbers, question, signature
from trying import tried

tpu = tf.contrib.tpu


@question
def tpu_config():
    made = tpu.TPUConfig()
    return {"fields": list(made._fields)[:9], "values": repr(tuple(made)[:9])}


@question
def tpu_config_values():
    kinds = tpu.InputPipelineConfig
    made = tpu.TPUConfig(100, 8, 2, kinds.PER_HOST_V2, "job", 5, [{"a": [1, 2]}])
    given = [True, False, kinds.PER_SHARD_V1, kinds.PER_HOST_V1, kinds.BROADCAST, kinds.SLICED]
    inputs = [tpu.TPUConfig(per_host_input_for_training=one)[3] for one in given]
    return {"values": repr(tuple(made)[:9]), "inputs": repr(inputs), "kinds": repr(given)}


@question
def tpu_config_errors():
    kinds = tpu.InputPipelineConfig
    given = [
        {"iterations_per_loop": 0}, {"iterations_per_loop": -1}, {"iterations_per_loop": "60s"},
        {"iterations_per_loop": "5x"}, {"iterations_per_loop": 2.5}, {"iterations_per_loop": None},
        {"num_shards": 0}, {"num_shards": 3}, {"num_shards": "a"}, {"num_cores_per_replica": 3},
        {"num_cores_per_replica": 16}, {"num_cores_per_replica": 64}, {"num_cores_per_replica": 0},
        {"initial_infeed_sleep_secs": 0}, {"initial_infeed_sleep_secs": 1},
        {"input_partition_dims": [[1, 2]]}, {"num_cores_per_replica": 2},
        {"input_partition_dims": [[1, 2]], "per_host_input_for_training": kinds.PER_HOST_V2},
        {"input_partition_dims": [[1, 2]], "num_cores_per_replica": 2},
        {"input_partition_dims": [[1, 2]], "num_cores_per_replica": 2,
         "per_host_input_for_training": kinds.PER_HOST_V2},
        {"input_partition_dims": [[1, 2]] * 3, "num_cores_per_replica": 2,
         "per_host_input_for_training": kinds.PER_HOST_V2},
        {"per_host_input_for_training": 9}, {"tpu_job_name": 5}, {"other": 1},
        {"eval_training_input_configuration": kinds.SLICED},
        {"eval_training_input_configuration": kinds.PER_HOST_V2},
        {"experimental_host_call_every_n_steps": 0}, {"initial_infeed_sleep_secs": -1},
        {"num_shards": 2.5}, {"iterations_per_loop": True}, {"initial_infeed_sleep_secs": "a"},
        {"eval_training_input_configuration": 9},
    ]  # fmt: skip
    return {
        str(index): tried(lambda a=one: tpu.TPUConfig(**a)[:4]) for index, one in enumerate(given)
    }


def shown(config):
    names = ["master", "evaluation_master", "model_dir", "save_checkpoints_secs",
             "save_checkpoints_steps", "keep_checkpoint_max", "log_step_count_steps",
             "save_summary_steps", "tf_random_seed", "task_type", "task_id", "is_chief",
             "num_worker_replicas", "num_ps_replicas", "global_id_in_cluster", "train_distribute",
             "device_fn", "protocol", "cluster"]  # fmt: skip
    return {name: repr(getattr(config, name)) for name in names}


@question
def run_config():
    made = tpu.RunConfig()
    return dict(shown(made), tpu=repr(tuple(made.tpu_config)[:9]))


@question
def run_config_values():
    made = tpu.RunConfig(
        tpu_config=tpu.TPUConfig(10),
        master="grpc://a",
        model_dir="/d",
        save_checkpoints_steps=7,
        keep_checkpoint_max=2,
        tf_random_seed=3,
        save_summary_steps=9,
        log_step_count_steps=None,
    )
    return dict(shown(made), loop=made.tpu_config.iterations_per_loop)


@question
def run_config_masters():
    answers = {}
    given = [
        {"master": "grpc://a", "evaluation_master": "grpc://b"},
        {"evaluation_master": "grpc://b"},
        {"evaluation_master": "", "master": "grpc://a"},
        {"master": ""},
        {"master": "grpc://a", "cluster": 5},
        {"tf_random_seed": 1, "save_checkpoints_secs": 5, "save_checkpoints_steps": 5},
        {"iterations_per_loop": 5},
        {"session_config": tf.ConfigProto(allow_soft_placement=True)},
    ]
    for index, one in enumerate(given):
        answers[str(index)] = tried(lambda a=one: sorted(shown(tpu.RunConfig(**a)).items()))
    return answers


@question
def run_config_replaced():
    made = tpu.RunConfig(tpu_config=tpu.TPUConfig(5), master="grpc://a")
    other = made.replace(model_dir="/x", tpu_config=tpu.TPUConfig(7))
    return {
        "loops": [made.tpu_config.iterations_per_loop, other.tpu_config.iterations_per_loop],
        "masters": [other.master, other.evaluation_master],
        "kind": type(other).__name__,
        "directory": other.model_dir,
        "seed": tried(lambda: made.replace(tf_random_seed=5).tf_random_seed),
    }


@question
def spec():
    made = tpu.TPUEstimatorSpec("train", loss=tf.constant(1.0), train_op=tf.no_op())
    return {
        "fields": list(made._fields),
        "values": repr(
            [value for name, value in made._asdict().items() if name not in ("loss", "train_op")]
        ),  # fmt: skip
        "signature": signature(tpu.TPUEstimatorSpec.__new__),
    }


@question
def spec_errors():
    loss = tf.constant(1.0)

    def metric_fn(a, b=None):
        return {"m": tf.metrics.mean(a)}

    given = [
        {"mode": "train"}, {"mode": "train", "loss": loss}, {"mode": "eval"},
        {"mode": "eval", "loss": loss}, {"mode": "infer"},
        {"mode": "infer", "predictions": {"a": loss}},
        {"mode": "infer", "predictions": loss},
        {"mode": "eval", "loss": loss, "eval_metrics": metric_fn},
        {"mode": "eval", "loss": loss, "eval_metrics": (metric_fn, 5)},
        {"mode": "eval", "loss": loss, "eval_metrics": (5, [loss])},
        {"mode": "eval", "loss": loss, "eval_metrics": (metric_fn, [loss])},
        {"mode": "eval", "loss": loss, "eval_metrics": (metric_fn, {"a": loss})},
        {"mode": "eval", "loss": loss, "eval_metrics": (metric_fn, {"c": loss})},
        {"mode": "eval", "loss": loss, "eval_metrics": (metric_fn, [loss] * 3)},
        {"mode": "eval", "loss": loss, "eval_metrics": {"m": loss}},
        {"mode": "eval", "loss": loss, "eval_metrics": (metric_fn, [1.0])},
        {"mode": "train", "loss": loss, "train_op": tf.no_op(), "host_call": metric_fn},
        {"mode": "train", "loss": loss, "train_op": tf.no_op(), "host_call": (metric_fn, [loss])},
        {"mode": "train", "loss": loss, "train_op": tf.no_op(), "training_hooks": [5]},
        {"mode": "train", "loss": loss, "train_op": tf.no_op(),
         "training_hooks": [tf.train.StopAtStepHook(1)]},
        {"mode": "train", "loss": loss, "train_op": tf.no_op(),
         "training_hooks": [tf.train.StopAtStepHook(1)], "host_call": (metric_fn, [loss])},
        {"mode": "other", "loss": loss},
    ]  # fmt: skip
    return {
        str(index): tried(lambda a=one: tpu.TPUEstimatorSpec(**a).mode)
        for index, one in enumerate(given)
    }


@question
def spec_as_estimator_spec():
    loss = tf.constant([1.0, 3.0])

    def metric_fn(values, weights=None):
        return {"mean": tf.metrics.mean(values, weights)}

    made = tpu.TPUEstimatorSpec(
        "eval", loss=tf.reduce_sum(loss), eval_metrics=(metric_fn, {"values": loss})
    ).as_estimator_spec()
    value, update = made.eval_metric_ops["mean"]
    return {"kind": type(made).__name__, "update": update, "names": sorted(made.eval_metric_ops)}


@question
def cross_shard_optimizer():
    answers = {"signature": signature(tpu.CrossShardOptimizer)}
    for reduction in ("weighted_sum", "weighted_mean", "none", "weighted_sum_over_batch_size"):
        descent = tf.train.GradientDescentOptimizer(0.1)
        answers[reduction] = tried(
            lambda r=reduction, d=descent: tpu.CrossShardOptimizer(d, reduction=r).get_name()
        )
    answers["no optimizer"] = tried(lambda: tpu.CrossShardOptimizer(5) and 1)
    return answers


@differs("the original sums over TPUs and has no kernels for that elsewhere")
@question
def cross_shard_steps():
    v = tf.get_variable("v", initializer=numbers(3))
    optimizer = tpu.CrossShardOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
    step = tf.train.get_or_create_global_step()
    op = optimizer.minimize(tf.reduce_sum(v**2), step)
    slot = optimizer.get_slot(v, "momentum")
    names = sorted(one.op.name for one in optimizer.variables())
    return [{"op": op}, {"v": v, "slot": slot, "step": step}] * 2 + [
        {"names": names, "slots": optimizer.get_slot_names()}
    ]


@question
def estimator_on_tpu():
    def model_fn(features, labels, mode, params):
        return None

    config = tpu.RunConfig(model_dir=tempfile.mkdtemp())
    return {
        "made": tried(lambda: tpu.TPUEstimator(model_fn, config=config, train_batch_size=8) and 1)
    }


@question
def half_precision():
    with tpu.bfloat16_scope():
        v = tf.get_variable("v", [2], tf.bfloat16, tf.ones_initializer())
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    return {"dtypes": [v.dtype.name, w.dtype.name]}


@question
def sum_of_one():
    return {"signature": signature(tpu.cross_replica_sum)}


@question
def estimator_signature():
    found = signature(tpu.TPUEstimator)
    return {"arguments": [one for one in found[1:] if "api_version" not in one]}


@question
def estimator_errors():
    def model_fn(features, labels, mode, params):
        return None

    config = tpu.RunConfig()
    given = [
        {"config": None}, {"config": config, "use_tpu": True},
        {"config": config, "use_tpu": False}, {"config": tf.estimator.RunConfig()},
        {"config": config, "use_tpu": False, "train_batch_size": 0},
        {"config": config, "use_tpu": False, "train_batch_size": "a"},
        {"config": config, "use_tpu": False, "params": {"batch_size": 5}},
        {"config": config, "use_tpu": False, "params": {"context": 5}},
        {"config": config, "use_tpu": True, "train_batch_size": -8},
    ]  # fmt: skip
    answers = {}
    for index, one in enumerate(given):
        directory = tempfile.mkdtemp()
        answers[str(index)] = tried(
            lambda a=one, d=directory: type(tpu.TPUEstimator(model_fn, model_dir=d, **a)).__name__
        )
    return answers


def counting():
    """Returns an estimator of one number, and the params that its functions saw."""
    seen = []

    def model_fn(features, labels, mode, params):
        seen.append([mode, params["batch_size"], sorted(params)])
        v = tf.get_variable("v", initializer=1.0)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions={"p": v * features["x"]})
        loss = tf.reduce_mean((v * features["x"] - tf.cast(labels, tf.float32)) ** 2)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        return tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=optimizer.minimize(loss, tf.train.get_global_step()),
            eval_metrics=(lambda x: {"mean": tf.metrics.mean(x)}, [features["x"]]),
        )

    def input_fn(params):
        seen.append(["input", params["batch_size"], sorted(params)])
        x = np.arange(24, dtype=np.float32) / 10
        data = tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x))
        return data.batch(params["batch_size"], drop_remainder=True)

    config = tpu.RunConfig(model_dir=tempfile.mkdtemp(), tpu_config=tpu.TPUConfig(2))
    made = tpu.TPUEstimator(
        model_fn,
        config=config,
        use_tpu=False,
        train_batch_size=4,
        eval_batch_size=8,
        predict_batch_size=6,
        params={"rate": 1},
    )
    return made, input_fn, seen


@question
def estimator():
    made, input_fn, seen = counting()
    made.train(input_fn, max_steps=5)
    results = made.evaluate(input_fn, steps=2)
    predictions = [
        float(one["p"]) for one in made.predict(lambda params: features(input_fn(params)))
    ]
    return {
        "v": made.get_variable_value("v"),
        "results": {name: float(value) for name, value in results.items()}["mean"],
        "names": sorted(results),
        "predictions": predictions,
        "seen": repr(seen),
    }


def features(data):
    return data.map(lambda x, y: x)


@question
def host_call_with_summary_writers():
    """Values of the event files that a host call writes, by the name of the writer's directory."""
    place = tempfile.mkdtemp()
    estimator = tpu.TPUEstimator(
        model_fn=functools.partial(write_in_host_call, place),
        config=tpu.RunConfig(model_dir=place, save_checkpoints_steps=2),
        use_tpu=False,
        train_batch_size=2,
        eval_batch_size=2,
    )
    estimator.train(input_of_ones, max_steps=5)
    estimator.evaluate(input_of_ones, steps=2)
    folders = ("train/first", "train/second", "eval/first", "eval/second")
    return {name: repr(read_scalars(os.path.join(place, name))) for name in folders}


def input_of_ones(params):
    return tf.data.Dataset.from_tensors(tf.ones([3])).repeat(12).batch(params["batch_size"])


def write_in_host_call(place, features, mode, params):
    weight = tf.compat.v1.get_variable("weight", [], initializer=tf.compat.v1.zeros_initializer())
    loss = tf.reduce_mean(features) * weight
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.5).minimize(loss, step)

    def write(step):
        for name in ("first", "second"):
            writer = tf.contrib.summary.create_file_writer(os.path.join(place, mode, name))
            with writer.as_default(), tf.contrib.summary.always_record_summaries():
                tf.contrib.summary.scalar(
                    name + "_half", 0.5 * tf.cast(step[0], tf.float32), step=step[0]
                )
        return tf.contrib.summary.all_summary_ops()

    with tf.control_dependencies([train_op] if mode == "train" else []):
        host_call = (write, [tf.reshape(step.read_value(), [1])])
    return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, host_call=host_call)


def read_scalars(folder):
    found = []
    for file in sorted(glob.glob(os.path.join(folder, "*"))):
        for event in tf.compat.v1.train.summary_iterator(file):
            for value in event.summary.value:
                has_tensor = value.HasField("tensor")
                number = tf.make_ndarray(value.tensor) if has_tensor else value.simple_value
                found.append((value.tag, event.step, float(number)))
    return sorted(found)


@question
def writer_initializers():
    writers = [tf.contrib.summary.create_file_writer(tempfile.mkdtemp()) for _ in range(2)]
    found = tf.contrib.summary.summary_writer_initializer_op()
    return {"count": len(found), "writers": len(writers)}


if __name__ == "__main__":
    main()
