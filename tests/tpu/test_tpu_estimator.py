"""TPUEstimator without a TPU: batch sizes by params, host calls, errors as the original's.

These tests cover `estimator_spec/tpu_spec.py`, `tpu/config.py`, `tpu/estimator.py`,
`tpu/estimator.py` and `tpu/experimental.py`.
"""

import ask_tpu_refusals
import pytest
import tensorflow as tf
from outcomes import outcome, recorded

from estimator_train import EstimatorSpec
from estimator_train.compat.v1 import RunConfig, tpu

QUESTIONS = ask_tpu_refusals.questions(tpu, EstimatorSpec)


def model_fn(features, labels, mode, params):
    params["seen"].append((mode, params.get("batch_size"), params["use_tpu"]))
    weight = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.zeros_initializer())
    predictions = weight * features["x"]
    if mode == "infer":
        return tpu.TPUEstimatorSpec(mode, predictions={"p": predictions})
    loss = tf.reduce_mean((predictions - labels) ** 2)
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    metrics = lambda a, b: {"mse": tf.compat.v1.metrics.mean_squared_error(a, b)}  # noqa: E731
    return tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metrics=(metrics, [labels, predictions])
    )


class Seen(list):
    """Stays one list where params are copied."""

    def __deepcopy__(self, memo):
        return self


def input_fn(params):
    params["seen"].append(("input", params.get("batch_size")))
    data = tf.data.Dataset.from_tensors(({"x": tf.ones([2])}, tf.ones([2])))
    return data.repeat(6)


def test_modes_have_their_batch_sizes_and_train_as_recorded(tmp_path):
    seen = Seen()
    config = tpu.RunConfig(model_dir=str(tmp_path), tpu_config=tpu.TPUConfig(iterations_per_loop=4))
    estimator = tpu.TPUEstimator(
        model_fn,
        config=config,
        use_tpu=False,
        train_batch_size=8,
        eval_batch_size=4,
        predict_batch_size=6,
        params={"seen": seen},
    )
    estimator.train(input_fn, max_steps=6)
    assert seen == [("input", 8), ("train", 8, False)]
    seen.clear()
    metrics = estimator.evaluate(input_fn, steps=2)
    assert seen == [("input", 4), ("eval", 4, False)]
    # Of the loss (1 - w)^2, a step at a rate of 0.1 leaves 0.8 of what w is from 1.
    left = 0.8**6
    assert metrics["loss"] == pytest.approx(left**2)
    assert metrics["mse"] == pytest.approx(left**2)
    seen.clear()
    assert next(estimator.predict(input_fn))["p"] == pytest.approx(1 - left)
    assert seen == [("input", 6), ("infer", 6, False)]


def test_missing_params_log_a_warning_that_names_the_model_fn(caplog):
    tpu.TPUEstimator(model_fn, config=tpu.RunConfig(), use_tpu=False)
    (warning,) = [r.getMessage() for r in caplog.records if "params argument" in r.getMessage()]
    assert f"model_fn ({model_fn}) includes params argument" in warning


def _read_rates(model_dir, batch_size):
    config = tpu.RunConfig(
        model_dir=str(model_dir),
        log_step_count_steps=5,
        tpu_config=tpu.TPUConfig(iterations_per_loop=2),
    )
    estimator = tpu.TPUEstimator(
        model_fn, config=config, use_tpu=False, train_batch_size=batch_size, params={"seen": []}
    )
    estimator.train(lambda params: input_fn(params).repeat(2), max_steps=12)
    rates = {}
    for path in model_dir.glob("events*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                rates.setdefault(value.tag, {})[event.step] = value.simple_value
    return rates


def test_the_examples_per_second_are_those_of_the_train_batch_size(tmp_path):
    rates = _read_rates(tmp_path, 8)
    assert list(rates["global_step/sec"]) == [6, 11]
    expected = {step: pytest.approx(8 * rate) for step, rate in rates["global_step/sec"].items()}
    assert rates["examples/sec"] == expected


def test_a_training_without_train_batch_size_has_no_examples_per_second(tmp_path):
    assert set(_read_rates(tmp_path, None)) == {"global_step/sec", "loss"}


def test_iterations_per_loop_is_steps_per_loop():
    assert tpu.RunConfig().steps_per_loop == 2
    config = tpu.RunConfig(tpu_config=tpu.TPUConfig(iterations_per_loop="60s"))
    assert config.steps_per_loop == "auto"
    assert config.replace(tf_random_seed=3).tpu_config.iterations_per_loop == "60s"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"config": RunConfig()}, "`config` must be provided with type `tpu_config.RunConfig`"),
        ({"use_tpu": True}, "`train_batch_size` cannot be `None`"),
        ({"params": {"batch_size": 3}}, r"\['batch_size', 'context'\] are reserved keys"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        tpu.TPUEstimator(model_fn, **{"config": tpu.RunConfig(), "use_tpu": False, **arguments})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iterations_per_loop": 0}, "Invalid TPUConfig `iterations_per_loop` value"),
        ({"num_shards": 0}, "TPUConfig num_shards must be positive, got 0"),
        ({"num_cores_per_replica": 3}, "num_cores_per_replica must be 1, 2, 4, 8"),
        ({"input_partition_dims": [1]}, "only supported in PER_HOST_V2 mode"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        tpu.TPUConfig(**settings)


def test_functions_must_take_their_tensors():
    with pytest.raises(RuntimeError, match="length of tensors 1 does not match method args"):
        tpu.TPUEstimatorSpec("train", host_call=(lambda a, b: 0, [1]))
    with pytest.raises(TypeError, match=r"eval_metrics\[0\] should be callable"):
        tpu.TPUEstimatorSpec("train", eval_metrics=(3, []))


def test_host_call_and_scaffold_fn_are_called_on_the_host(tmp_path):
    seen = []

    def host_fn(step, loss):
        seen.append("host_fn")

        def note(step, loss):
            seen.append((step.shape, loss.shape))

        return tf.numpy_function(note, [step, loss], [])

    def scaffold_fn():
        seen.append("scaffold_fn")
        return tf.compat.v1.train.Scaffold(init_fn=lambda scaffold, session: seen.append("init"))

    def with_calls(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        step = tf.compat.v1.train.get_global_step()
        tensors = {"step": tf.reshape(step, [1]), "loss": tf.reshape(spec.loss, [1])}
        return spec._replace(host_call=(host_fn, tensors), scaffold_fn=scaffold_fn)

    per_host = tpu.InputPipelineConfig.PER_HOST_V2
    settings = tpu.TPUConfig(iterations_per_loop=2, per_host_input_for_training=per_host)
    config = tpu.RunConfig(model_dir=str(tmp_path), tpu_config=settings)
    params = {"seen": Seen()}
    estimator = tpu.TPUEstimator(with_calls, config=config, use_tpu=False, params=params)
    estimator.train(input_fn, steps=6)
    assert sorted(seen[:2]) == ["host_fn", "scaffold_fn"]
    assert seen[2] == "init"
    # A call that Python sees is made with every step, as the original makes it without a TPU.
    assert seen[3:] == 6 * [((1,), (1,))]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_call_that_needs_a_tpu_raises_the_recorded_error(name):
    assert outcome(QUESTIONS[name]) == recorded("tpu_refusals")[name]


def test_evaluation_without_the_tpu_runs_on_the_cpu(tmp_path):
    def sized(params):
        assert params["batch_size"] == 4
        return input_fn(params)

    config = tpu.RunConfig(model_dir=str(tmp_path))
    sizes = {"train_batch_size": 8, "eval_batch_size": 4}
    estimator = tpu.TPUEstimator(
        model_fn, config=config, params={"seen": Seen()}, eval_on_tpu=False, **sizes
    )
    assert estimator.evaluate(sized, steps=1)["global_step"] == 0


def test_calls_that_need_a_tpu_are_rejected(tmp_path):
    estimator = tpu.TPUEstimator(
        model_fn, config=tpu.RunConfig(model_dir=str(tmp_path)), train_batch_size=8
    )
    assert estimator.latest_checkpoint() is None
    with pytest.raises(RuntimeError, match="Cannot find any TPU cores.*pass use_tpu=False"):
        estimator.train(input_fn, max_steps=6)
    assert list(tmp_path.iterdir()) == []


def test_settings_of_embeddings_on_a_tpu_name_the_way_out():
    with pytest.raises(NotImplementedError, match="Leave embedding_config_spec out"):
        tpu.experimental.EmbeddingConfigSpec(feature_columns=[])
