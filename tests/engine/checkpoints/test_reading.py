"""Readers during a training: a checkpoint may disappear between its choice and its restore."""

import logging
import shutil

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.training.evaluations import Evaluation
from estimator_train.training.evaluator import _Evaluator

STEPS = {5: 2.0, 10: 3.0, 15: 4.0}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Checkpoints of steps 5, 10 and 15, whose weight tells them apart."""
    model_dir = tmp_path_factory.mktemp("written")
    for step, weight in STEPS.items():
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.compat.v1.train.create_global_step().load(step, session)
            tf.compat.v1.get_variable("w", [], initializer=None).load(weight, session)
            tf.compat.v1.train.Saver().save(session, str(model_dir / "model.ckpt"), step)
    return model_dir


class Job:
    """Provides a model_dir with a checkpoint of step 5, and an event that continues training."""

    def __init__(self, model_dir, written):
        self.model_dir, self._written = model_dir, written
        self.meanwhile = []
        model_dir.mkdir()
        self.save(5)
        self.estimator = est.Estimator(self.model_fn, model_dir)

    def save(self, step):
        """Writes the checkpoint of a step, and keeps no other."""
        for old in self.model_dir.glob("model.ckpt-*"):
            old.unlink()
        for new in self._written.glob(f"model.ckpt-{step}.*"):
            shutil.copy(new, self.model_dir)
        tf.compat.v1.train.update_checkpoint_state(str(self.model_dir), f"model.ckpt-{step}")

    def goes_on(self):
        for step in self.meanwhile[:1]:
            del self.meanwhile[0]
            self.save(step)

    def input_fn(self):
        self.goes_on()
        return tf.data.Dataset.from_tensors(np.ones([1], np.float32))

    def model_fn(self, features, labels, mode):
        self.goes_on()
        w = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.zeros_initializer())
        features = features["feature"] if isinstance(features, dict) else features
        if mode == est.ModeKeys.PREDICT:
            return est.EstimatorSpec(mode, predictions={"w": features * w})
        train_op = tf.compat.v1.train.get_global_step().assign_add(1)
        return est.EstimatorSpec(mode, loss=w * tf.reduce_mean(features), train_op=train_op)


@pytest.fixture
def job(tmp_path, written):
    return Job(tmp_path / "job", written)


def receiver():
    x = tf.compat.v1.placeholder(tf.float32, [None])
    return est.export.ServingInputReceiver(x, x)


def test_an_evaluation_uses_the_next_checkpoint(job, caplog):
    job.meanwhile = [10, 15]
    with caplog.at_level(logging.INFO):
        assert job.estimator.evaluate(job.input_fn) == {"loss": 4.0, "global_step": 15}
    before, after = (f"{job.model_dir}/model.ckpt-{step}" for step in (5, 15))
    assert f"{before} was deleted before it was read; using {after}." in caplog.messages


def test_an_evaluation_with_hooks_uses_the_next_checkpoint(job):
    job.meanwhile = [10]
    hooks = [tf.compat.v1.train.SessionRunHook()]
    assert job.estimator.evaluate(job.input_fn, hooks=hooks) == {"loss": 3.0, "global_step": 10}


def test_an_evaluation_of_an_open_model_uses_the_next_checkpoint(job):
    job.estimator.evaluate(job.input_fn)
    job.save(10)
    job.meanwhile = [15]
    assert job.estimator.evaluate(job.input_fn) == {"loss": 4.0, "global_step": 15}


def test_a_prediction_uses_the_next_checkpoint(job):
    job.meanwhile = [10]
    assert list(job.estimator.predict(job.input_fn)) == [{"w": 3.0}]


def test_an_export_uses_the_next_checkpoint_and_removes_its_first_attempt(job, tmp_path):
    job.meanwhile = [10]
    path = job.estimator.export_saved_model(str(tmp_path / "exports"), receiver).decode()
    assert tf.train.load_variable(f"{path}/variables/variables", "w") == 3.0
    assert [str(one) for one in (tmp_path / "exports").iterdir()] == [path]


def test_a_predictor_that_opens_at_its_first_batch_uses_the_next_checkpoint(job):
    with job.estimator.predictor() as predictor:
        job.save(10)
        assert predictor.predict(np.ones([1], np.float32))["w"] == [3.0]
        assert predictor.checkpoint_path == str(job.model_dir / "model.ckpt-10")


def test_a_warm_start_uses_the_next_checkpoint(job, tmp_path):
    new = est.Estimator(job.model_fn, tmp_path / "new", warm_start_from=job.model_dir)
    job.meanwhile = [10, 15]
    new.train(job.input_fn, steps=1)
    assert new.get_variable_value("w") == 4.0
    assert new.get_variable_value("global_step") == 1


def test_a_training_with_restored_variables_does_not_restart(job, tmp_path):
    class Fails(tf.compat.v1.train.SessionRunHook):
        calls = 0

        def after_run(self, run_context, run_values):
            self.calls += 1
            job.save(10)
            raise ValueError("a mistake") if self.calls == 1 else RuntimeError("restarted")

    hook = Fails()
    new = est.Estimator(job.model_fn, tmp_path / "new", warm_start_from=job.model_dir)
    with pytest.raises(ValueError, match="a mistake"):
        new.train(job.input_fn, steps=1, hooks=[hook])
    assert new.get_variable_value("w") == 2.0


def test_a_deleted_checkpoint_given_by_path_is_an_error(job):
    path = job.estimator.latest_checkpoint()
    job.meanwhile = [10]
    with pytest.raises((ValueError, tf.errors.NotFoundError), match="model.ckpt-5"):
        job.estimator.evaluate(job.input_fn, checkpoint_path=path)


def test_an_emptied_model_dir_is_an_error(job):
    def empty():
        shutil.rmtree(job.model_dir)
        return job.input_fn()

    with pytest.raises((ValueError, tf.errors.NotFoundError), match="model.ckpt-5"):
        job.estimator.evaluate(empty)


def test_an_existing_checkpoint_chosen_by_a_subclass_is_used(job, tmp_path):
    shutil.copytree(job.model_dir, tmp_path / "chosen")
    job.save(15)

    class Chooses(est.Estimator):
        def latest_checkpoint(self):
            return str(tmp_path / "chosen" / "model.ckpt-5")

    mistakes = [ValueError("a mistake")]

    def fail_once():
        while mistakes:
            raise mistakes.pop()
        return receiver()

    estimator = Chooses(job.model_fn, job.model_dir)
    with pytest.raises(ValueError, match="a mistake"):
        estimator.export_saved_model(str(tmp_path / "exports"), fail_once)


def test_errors_of_a_model_are_not_retried(job):
    calls = []

    def wrong(features, labels, mode):
        calls.append(mode)
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        est.Estimator(wrong, job.model_dir).evaluate(job.input_fn)
    assert len(calls) == 1


def test_the_evaluator_of_a_cluster_uses_checkpoints_that_exist(job):
    exporter = est.LatestExporter("latest", receiver)
    spec = est.EvalSpec(job.input_fn, exporters=exporter)
    evaluator = _Evaluator(job.estimator, est.TrainSpec(job.input_fn, max_steps=15), [spec])
    job.meanwhile = [10]
    assert not evaluator.evaluate_due()
    assert evaluator.evaluations[0].metrics == {"loss": 3.0, "global_step": 10}
    (path,) = evaluator.evaluations[0].exports
    assert tf.train.load_variable(f"{path.decode()}/variables/variables", "w") == 3.0


def test_an_evaluated_checkpoint_is_exported_if_it_exists(job):
    taken = []

    class Taking(est.Exporter):
        name = "taking"

        def export(self, estimator, export_path, checkpoint_path, *_, **__):
            taken.append(checkpoint_path.rpartition("-")[2])
            job.goes_on()
            tf.train.load_checkpoint(checkpoint_path)

    evaluation = Evaluation(job.estimator, est.EvalSpec(job.input_fn, exporters=Taking()))
    evaluation.run(is_final=False)
    job.meanwhile = [10]
    evaluation.finish(5)
    assert taken == ["5", "5", "10"]


def test_a_best_checkpoint_deleted_before_its_copy_logs_a_warning(job, caplog):
    estimator = est.Estimator(
        job.model_fn, job.model_dir, est.RunConfig(keep_best=("loss", "min", 2))
    )
    estimator.evaluate(job.input_fn)

    class Meanwhile(tf.compat.v1.train.SessionRunHook):
        def end(self, session):
            job.save(15)

    job.save(10)
    assert estimator.evaluate(job.input_fn, hooks=[Meanwhile()])["global_step"] == 10
    assert "model.ckpt-10 (loss = 3.0) was removed for later checkpoints" in caplog.text
    best = job.model_dir / "best"
    assert tf.train.latest_checkpoint(best) == str(best / "model.ckpt-5")
    assert not list(best.glob("model.ckpt-10*"))
