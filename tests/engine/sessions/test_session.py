"""The configuration of training sessions."""

import pytest
import tensorflow as tf

import estimator_train as est

RewriterConfig = tf.compat.v1.ConfigProto().graph_options.rewrite_options.__class__


def _train(model_dir, constant_shape, setting):
    """Trains a step of a model with a constant; returns the session's setting of CSE."""

    class KeepSetting(est.SessionRunHook):
        def after_create_session(self, session, coord):
            rewrites = session._config.graph_options.rewrite_options
            self.setting = rewrites.common_subgraph_elimination

    def model_fn(features, labels, mode):
        tf.constant(0.1, shape=constant_shape)
        step = tf.compat.v1.train.get_global_step()
        train_op = tf.compat.v1.assign_add(step, 1).op
        return est.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=train_op)

    session_config = tf.compat.v1.ConfigProto()
    session_config.graph_options.rewrite_options.common_subgraph_elimination = setting
    hook = KeepSetting()
    estimator = est.Estimator(model_fn, model_dir, est.RunConfig(session_config=session_config))
    estimator.train(lambda: tf.data.Dataset.from_tensors([1.0]), [hook], steps=1)
    return hook.setting


@pytest.mark.parametrize(
    ("constant_shape", "setting", "expected"),
    [
        ([1_000_000], RewriterConfig.DEFAULT, RewriterConfig.DEFAULT),
        ([20_000_000], RewriterConfig.DEFAULT, RewriterConfig.OFF),
        ([20_000_000], RewriterConfig.ON, RewriterConfig.ON),
    ],
)
def test_large_constants_are_not_compared_unless_the_program_asks_for_it(
    tmp_path, constant_shape, setting, expected
):
    assert _train(tmp_path, constant_shape, setting) == expected
