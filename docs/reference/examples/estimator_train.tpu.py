"""Examples of `estimator_train.tpu`: a section for one or several names."""

import estimator_train.tpu as tpu
import tensorflow as tf


def input_fn(params):
    dataset = tf.data.Dataset.from_tensor_slices(([[1.0], [2.0]], [[2.0], [4.0]]))
    return dataset.repeat().batch(params["batch_size"], drop_remainder=True)


def model_fn(features, labels, mode, params):
    output = features * tf.compat.v1.get_variable("weight", [1])
    loss = tf.reduce_mean(tf.square(output - labels))
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.01)
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


# %% TPUEstimator, TPUEstimatorSpec, RunConfig, TPUConfig, InputPipelineConfig
settings = tpu.TPUConfig(
    iterations_per_loop=10, per_host_input_for_training=tpu.InputPipelineConfig.PER_HOST_V2
)
config = tpu.RunConfig(model_dir="runs/tpu", tpu_config=settings)
estimator = tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=2)
estimator.train(input_fn, max_steps=20)
