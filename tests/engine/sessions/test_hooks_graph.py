"""Hooks find the graph of their session as the default one, as libraries' hooks rely on."""

import tensorflow as tf

import estimator_train as est


def _model_fn(features, labels, mode):
    value = tf.reduce_sum(features)
    step = tf.compat.v1.train.get_global_step()
    return est.EstimatorSpec(
        mode, {"value": features}, value, tf.compat.v1.assign_add(step, 1, name="step")
    )


class _Hook(est.SessionRunHook):
    """Notes at which of its calls the session's graph is the default one."""

    def __init__(self):
        self.found = {}

    def _note(self, call, session):
        self.found[call] = session.graph is tf.compat.v1.get_default_graph()

    def after_create_session(self, session, coord):
        self._note("created", session)

    def before_run(self, run_context):
        self._note("before", run_context.session)

    def after_run(self, run_context, run_values):
        self._note("after", run_context.session)

    def end(self, session):
        self._note("end", session)
        session.run(tf.compat.v1.train.get_global_step())


def test_hooks_of_evaluation_and_prediction_are_called_in_their_graph(tmp_path):
    estimator = est.Estimator(_model_fn, str(tmp_path))

    def input_fn():
        return tf.data.Dataset.from_tensors([1.0, 2.0])

    trained, evaluated, predicted = _Hook(), _Hook(), _Hook()
    estimator.train(input_fn, hooks=[trained])
    estimator.evaluate(input_fn, hooks=[evaluated])
    outside = tf.compat.v1.get_default_graph()
    for _ in estimator.predict(input_fn, hooks=[predicted]):
        assert tf.compat.v1.get_default_graph() is outside
    everywhere = dict.fromkeys(("created", "before", "after", "end"), True)
    assert trained.found == evaluated.found == everywhere
    assert predicted.found["created"]
    assert predicted.found["end"]
