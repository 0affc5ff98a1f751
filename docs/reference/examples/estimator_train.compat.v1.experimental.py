"""Examples of `estimator_train.compat.v1.experimental`: a section for one or several names."""

import estimator_train.compat.v1 as tf_estimator
import tensorflow as tf

x = tf.feature_column.numeric_column("x")


def input_fn():
    features = {"x": [[1.0], [2.0], [8.0], [9.0]]}
    return tf.data.Dataset.from_tensor_slices((features, [[0], [0], [1], [1]])).repeat().batch(4)


# %% KMeans
estimator = tf_estimator.experimental.KMeans(num_clusters=2, feature_columns=[x])
estimator.train(input_fn, steps=10)
print(sorted(estimator.cluster_centers().ravel()))  # About 1.5 and 8.5.

# %% dnn_logit_fn_builder, linear_logit_fn_builder
experimental = tf_estimator.experimental
dnn = experimental.dnn_logit_fn_builder(
    units=1,
    hidden_units=[4],
    feature_columns=[x],
    activation_fn=tf.nn.relu,
    dropout=None,
    input_layer_partitioner=None,
    batch_norm=False,
)
linear = experimental.linear_logit_fn_builder(units=1, feature_columns=[x])


def model_fn(features, labels, mode):
    logits = dnn(features, mode) + linear(features)
    loss = tf.compat.v1.losses.mean_squared_error(labels, logits)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.01)
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return tf_estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf_estimator.Estimator(model_fn).train(input_fn, steps=10)
