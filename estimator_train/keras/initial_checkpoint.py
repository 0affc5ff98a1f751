"""Checkpoints of a Keras model before its training."""

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.keras.graph.eager_scope import enter_eager_scope
from estimator_train.keras.graph.layer_classes import keep_layer_classes
from estimator_train.keras.graph_builder import GraphBuilder
from estimator_train.optimizers.optimizer_pair import list_optimizers
from estimator_train.run_config import RunConfig


def write_initial_checkpoint(
    builder: GraphBuilder, path: str, config: RunConfig, trained: tf_keras.Model | None = None
) -> None:
    """Writes the checkpoint that training would write at step 0.

    Args:
      builder: Builds the model's graph.
      path: The checkpoint's path prefix.
      config: The estimator's configuration.
      trained: The eager model; the state of its optimizer and its count of steps are written too.
        None writes those of a new optimizer.

    Raises:
      ValueError: The model's inputs are not known.
    """
    with keep_layer_classes(), tf.Graph().as_default():
        global_step = tf.compat.v1.train.create_global_step()
        built, feeds = builder.build_model(builder.blueprint.make_placeholders(), ModeKeys.PREDICT)
        optimizer = None
        trainable = built.model.trainable_weights
        if trainable:
            # Any loss of all variables makes the optimizer create its slots.
            loss = tf.add_n([tf.cast(tf.reduce_sum(v), tf.float32) for v in trainable])
            optimizer = builder.minimize(built.model, loss).trackable
        object_based = builder.make_saver(built, optimizer, config)
        saver = object_based or tf.compat.v1.train.Saver(save_relative_paths=True)
        values: list[tuple[tf.Variable, np.ndarray]] = []
        if trained is not None:
            model = builder.observe(built, optimizer, None)
            last, _ = list_optimizers(trained, trained.optimizer)[-1]
            count = (global_step, last.iterations)
            pairs = [*model.pair_weights(trained), *model.pair_scalars(trained), count]
            with enter_eager_scope():
                values = [(variable, source.numpy()) for variable, source in pairs]
        with tf.compat.v1.Session(config=_make_session_config()) as session:
            session.run(tf.compat.v1.global_variables_initializer(), feeds)
            for variable, value in values:
                # Its initializer is an assignment that the graph already has.
                session.run(variable.initializer, {variable.initializer.inputs[1]: value})
            saver.save(session, path, write_meta_graph=object_based is None)


def _make_session_config() -> tf.compat.v1.ConfigProto:
    """Returns the settings of a session that runs each operation once, without optimizing them."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.compat.v1.OptimizerOptions.L0
    return config
