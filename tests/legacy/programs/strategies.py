# Estimators under strategies by the names of their time.
import os

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
x = np.linspace(0, 1, 64, dtype=np.float32)[:, None]


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": x}, 3 * x)).repeat().batch(16)


def model_fn(features, labels, mode):
    layer = tf.layers.Dense(1, kernel_initializer=tf.zeros_initializer())
    predictions = layer(features["x"])
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.train.GradientDescentOptimizer(0.2)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


strategies = [
    tf.distribute.experimental.CentralStorageStrategy(),
    tf.distribute.experimental.MultiWorkerMirroredStrategy(),
    tf.distribute.MirroredStrategy(devices=["/cpu:0"]),
    tf.contrib.distribute.OneDeviceStrategy("/cpu:0"),
    tf.contrib.distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=0),
]
for number, strategy in enumerate(strategies):
    config = tf.estimator.RunConfig(
        model_dir=os.path.join(os.environ["WORK_DIR"], str(number)),
        train_distribute=strategy,
        tf_random_seed=1,
    )
    estimator = tf.estimator.Estimator(model_fn, config=config)
    estimator.train(input_fn, steps=40)
    print(type(strategy).__name__, "%.5f" % estimator.evaluate(input_fn, steps=4)["loss"])
