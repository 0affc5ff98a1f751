"""Members that a subclass overrides, or a program replaces or assigns on an Estimator.

These tests cover `estimator/estimator.py` and `estimator/model_methods.py`.
"""

import logging
import threading

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train import tpu
from estimator_train.training.evaluations import InMemoryEvaluatorHook

v1 = tf.compat.v1
MODES = ["train", "eval", "infer", "infer", "infer"]


def model_fn(features, labels, mode, params):
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    predictions = {"p": features["x"] * weight + params.get("shift", 0.0)}
    export = {"serving_default": est.export.PredictOutput(predictions)}
    if labels is None:
        return est.EstimatorSpec(mode, predictions, export_outputs=export)
    loss = tf.reduce_mean((predictions["p"] - labels) ** 2)
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    metrics = {"shift": v1.metrics.mean(params.get("shift", 0.0))} if mode == "eval" else None
    return est.EstimatorSpec(mode, predictions, loss, train_op, metrics)


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": tf.ones([4])}, tf.ones([4]))).repeat(4)


def receiver():
    x = v1.placeholder(tf.float32, [None], "x")
    return est.export.ServingInputReceiver({"x": x}, {"x": x})


def run_all(estimator, directory):
    """Trains, evaluates, predicts, exports and answers with a predictor."""
    estimator.train(input_fn, steps=2)
    metrics = estimator.evaluate(input_fn, steps=1)
    rows = list(estimator.predict(input_fn))
    estimator.export_saved_model(directory, receiver)
    with estimator.predictor() as predictor:
        answer = predictor.predict({"x": np.ones(3, np.float32)})
    return metrics, rows, answer


def test_all_verbs_call_an_overridden_call_model_fn(tmp_path):
    modes = []

    class Subclass(est.Estimator):
        def _call_model_fn(self, features, labels, mode, config):
            modes.append(mode)
            spec = super()._call_model_fn(features, labels, mode, config)
            return spec._replace(eval_metric_ops={})

    metrics, *_ = run_all(Subclass(model_fn, tmp_path / "model"), tmp_path / "export")
    assert modes == MODES
    assert sorted(metrics) == ["global_step", "loss"]


def test_all_verbs_call_a_call_model_fn_replaced_on_the_instance(tmp_path):
    estimator, modes = est.Estimator(model_fn, tmp_path / "model"), []
    original = estimator._call_model_fn

    def replaced(features, labels, mode, config):
        modes.append(mode)
        return original(features, labels, mode, config)

    estimator._call_model_fn = replaced
    metrics, *_ = run_all(estimator, tmp_path / "export")
    assert modes == MODES
    assert metrics["shift"] == 0.0


def test_the_verbs_call_other_overridden_private_members(tmp_path):
    called = []

    class Subclass(est.Estimator):
        def _call_input_fn(self, input_fn, mode):
            called.append(("input", mode))
            return super()._call_input_fn(input_fn, mode)

        def _create_global_step(self, graph):
            called.append("global step")
            return super()._create_global_step(graph)

        def _train_model(self, input_fn, hooks, saving_listeners):
            called.append(("train", len(hooks)))
            return super()._train_model(input_fn, hooks, saving_listeners)

        def _export_all_saved_models(self, *args, **kwargs):
            called.append("export")
            return super()._export_all_saved_models(*args, **kwargs)

        def latest_checkpoint(self):
            called.append("latest")
            return super().latest_checkpoint()

    run_all(Subclass(model_fn, tmp_path / "model"), tmp_path / "export")
    step = "global step"
    training = [("train", 1), step, ("input", "train")]
    others = [step, ("input", "eval"), step, ("input", "infer")]
    assert called == [*training, *others, "export", "latest", step, step]


def test_an_export_uses_an_overridden_latest_checkpoint(tmp_path):
    class Subclass(est.Estimator):
        def latest_checkpoint(self):
            return f"{self.model_dir}/model.ckpt-1"

    config = est.RunConfig(save_checkpoints_steps=1)
    estimator = Subclass(model_fn, tmp_path / "model", config)
    estimator.train(input_fn, steps=2)
    path = estimator.export_saved_model(tmp_path / "export", receiver).decode()
    with tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["serve"], path)
        (weight,) = session.run(v1.get_collection("variables", "weight"))
    assert weight == pytest.approx(0.2)


def test_members_that_tf_estimator_does_not_have_may_be_overridden(tmp_path):
    class Subclass(est.Estimator):
        def close(self):
            return "closed"

        def dry_run(self):
            return "dry"

    estimator = Subclass(model_fn, tmp_path / "model")
    estimator.train(input_fn, steps=1)
    assert (estimator.close(), estimator.dry_run()) == ("closed", "dry")


def test_a_private_member_that_is_not_called_is_named_in_a_warning(tmp_path, caplog):
    class Subclass(est.Estimator):
        def _assert_members_are_not_overridden(self):
            pass

        def _train_with_estimator_spec(self, *args):
            raise AssertionError

    tf.get_logger().propagate = True
    with caplog.at_level(logging.WARNING, "tensorflow"):
        Subclass(model_fn, tmp_path / "model")
    assert "['_train_with_estimator_spec'], which estimator_train does not call" in caplog.text


@pytest.mark.parametrize(
    "check",
    [lambda self: None, staticmethod(lambda _: None), classmethod(lambda cls, _: None)],
    ids=["function", "static method", "class method"],
)
def test_the_check_of_members_may_be_replaced_in_each_form(check, tmp_path):
    members = {"_assert_members_are_not_overridden": check, "train": lambda self: "own"}
    subclass = type("Subclass", (est.Estimator,), members)
    assert subclass(model_fn, tmp_path / "model").train() == "own"


def test_the_check_of_members_is_called_as_in_tf_estimator(tmp_path):
    estimator = est.Estimator(model_fn, tmp_path / "model")
    assert est.Estimator._assert_members_are_not_overridden(estimator) is None
    assert estimator._assert_members_are_not_overridden() is None


def test_all_files_are_written_to_an_assigned_model_dir(tmp_path):
    estimator = est.Estimator(model_fn, tmp_path / "first")
    estimator._model_dir = str(tmp_path / "second")
    estimator.train(input_fn, steps=1)
    estimator.evaluate(input_fn, steps=1)
    assert estimator.model_dir == str(tmp_path / "second")
    assert estimator.latest_checkpoint() == str(tmp_path / "second" / "model.ckpt-1")
    assert (tmp_path / "second" / "eval").is_dir()
    assert not (tmp_path / "first").exists()


def test_assigned_private_attributes_take_effect(tmp_path):
    estimator, placed = est.Estimator(model_fn, tmp_path / "model"), []

    def device_fn(operation):
        placed.append(operation.name)
        return "/cpu:0"

    estimator._device_fn = device_fn
    estimator._session_config = v1.ConfigProto(inter_op_parallelism_threads=3)
    estimator._params = {"shift": 2.0}
    estimator.train(input_fn, steps=1)
    assert "weight" in placed
    assert estimator._make_job(None).session_config.inter_op_parallelism_threads == 3
    assert estimator.params == {"shift": 2.0}
    assert estimator.evaluate(input_fn, steps=1)["shift"] == 2.0


def test_assigned_strategies_take_effect(tmp_path):
    replicas = []

    def replicated(features, labels, mode, params):
        replicas.append(mode)
        return model_fn(features, labels, mode, params)

    estimator = est.Estimator(replicated, tmp_path / "model")
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    estimator._train_distribution = strategy
    estimator._eval_distribution = strategy
    estimator.train(input_fn, steps=1)
    assert estimator._make_job("train").config.train_distribute is strategy
    assert estimator.evaluate(input_fn, steps=1)["global_step"] == 1
    assert replicas == ["train", "eval"]


def tpu_estimator(directory):
    def sized(features, labels, mode, params):
        seen.append((threading.get_ident(), mode, params.get("batch_size")))
        return model_fn(features, labels, mode, params)

    seen = []
    estimator = tpu.TPUEstimator(
        sized,
        directory,
        tpu.RunConfig(),
        use_tpu=False,
        train_batch_size=2,
        eval_batch_size=3,
        predict_batch_size=5,
    )
    return estimator, seen


def sized_input_fn(params):
    x = tf.ones([params["batch_size"]])
    return tf.data.Dataset.from_tensors(({"x": x}, x)).repeat(2)


def test_dry_run_and_in_memory_evaluation_have_the_batch_size_of_their_mode(tmp_path):
    estimator, seen = tpu_estimator(tmp_path / "model")
    spec = est.EvalSpec(sized_input_fn, exporters=est.FinalExporter("final", receiver))
    dry = estimator.dry_run(est.TrainSpec(sized_input_fn), spec)
    assert dry.global_step == 2
    assert [(mode, size) for _, mode, size in seen] == [("train", 2), ("eval", 3), ("infer", None)]
    seen.clear()
    hook = InMemoryEvaluatorHook(estimator, sized_input_fn)
    estimator.train(sized_input_fn, hooks=[hook], steps=2)
    assert sorted((mode, size) for _, mode, size in seen) == [("eval", 3), ("train", 2)]


def test_calls_in_two_threads_have_the_batch_sizes_of_their_modes(tmp_path):
    estimator, seen = tpu_estimator(tmp_path / "model")
    estimator.train(sized_input_fn, steps=1)
    predictions = estimator.predict(sized_input_fn)
    thread = threading.Thread(target=estimator.evaluate, args=(sized_input_fn, 1))
    thread.start()
    rows = list(predictions)
    thread.join()
    assert len(rows) == 10
    sizes = {(mode, size) for _, mode, size in seen}
    assert sizes == {("train", 2), ("eval", 3), ("infer", 5)}


def test_changes_of_params_in_model_fn_do_not_outlast_the_call(tmp_path):
    def popping(features, labels, mode, params):
        return model_fn(features, labels, mode, {"shift": params.pop("shift")})

    estimator = est.Estimator(popping, tmp_path / "model", params={"shift": 1.0})
    metrics, rows, _ = run_all(estimator, tmp_path / "export")
    assert (metrics["shift"], rows[0]["p"]) == (1.0, 1.0)
    assert estimator.params == {"shift": 1.0}


def test_changes_of_params_in_input_fn_do_not_reach_model_fn(tmp_path):
    def changing_input_fn(params):
        params["shift"] = 5.0
        return input_fn()

    estimator = est.Estimator(model_fn, tmp_path, params={"shift": 1.0})
    assert estimator.evaluate(changing_input_fn)["shift"] == 1.0
