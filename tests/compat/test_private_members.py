"""Private members of Estimator that libraries use."""

import pytest
import tensorflow as tf

import estimator_train as est
import estimator_train.compat.v1 as v1


def _model_fn(features, labels, mode, params, config):
    return mode, params["size"], config.model_dir, features


@pytest.mark.parametrize("package", [est, v1])
def test_programs_that_override_members_switch_off_the_check(package, tmp_path, monkeypatch):
    class Own(package.Estimator):
        def train(self, *args, **kwargs):
            return "own"

    with pytest.raises(ValueError, match=r"cannot override members.*\['train'\]"):
        Own(_model_fn, str(tmp_path))
    nothing = staticmethod(lambda _: None)
    check = "_assert_members_are_not_overridden"
    monkeypatch.setattr(package.Estimator, check, nothing, raising=False)
    assert Own(_model_fn, str(tmp_path)).train() == "own"


def test_private_members_have_the_values_that_the_estimator_uses(tmp_path):
    session = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=2)
    config = est.RunConfig(session_config=session, model_dir=str(tmp_path))
    estimator = est.Estimator(_model_fn, config=config, params={"size": 3})
    assert estimator._model_dir == str(tmp_path)
    assert estimator._session_config.inter_op_parallelism_threads == 2
    assert estimator._train_distribution is estimator._eval_distribution is None
    called = estimator._call_model_fn("x", None, "infer", config)
    assert called == ("infer", 3, str(tmp_path), "x")
    with tf.Graph().as_default() as graph:
        step = estimator._create_and_assert_global_step(graph)
        assert step is tf.compat.v1.train.get_global_step()
