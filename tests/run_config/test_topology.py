"""The role of a process in a training.

These tests cover `together/alone.py`.
"""

import json

import tensorflow as tf

import estimator_train as est


def model_fn(features, labels, mode):
    weight = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.zeros_initializer())
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    loss = (weight - 3.0) ** 2
    step = tf.compat.v1.train.get_global_step()
    return est.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, step))


def input_fn():
    return tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat()


def test_sessions_connect_to_a_master_without_a_cluster(tmp_path, monkeypatch):
    server = tf.compat.v1.train.Server.create_local_server()
    monkeypatch.setenv("TF_CONFIG", json.dumps({"session_master": server.target}))
    config = est.RunConfig(model_dir=str(tmp_path))
    assert config.master == server.target
    estimator = est.Estimator(model_fn, config=config).train(input_fn, steps=3)
    # As tf.estimator 2.15.1 answers.
    assert abs(estimator.get_variable_value("w") - 1.464) < 1e-6
    assert abs(estimator.evaluate(input_fn, steps=1)["loss"] - 2.359296) < 1e-6
