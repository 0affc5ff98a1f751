"""Examples of `estimator_train.compat.v1`: a section for one or several names."""

import estimator_train.compat.v1 as tf_estimator
import tensorflow as tf

x = tf.feature_column.numeric_column("x")
word = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"])


def input_fn():
    features = {"x": [[1.0], [2.0], [3.0], [4.0]], "word": ["a", "a", "b", "b"]}
    return tf.data.Dataset.from_tensor_slices((features, [[0], [0], [1], [1]])).repeat().batch(4)


# %% Estimator


def model_fn(features, labels, mode):
    output = tf.compat.v1.layers.dense(features["x"], 1)
    loss = tf.compat.v1.losses.mean_squared_error(labels, output)
    optimizer = tf.compat.v1.train.AdamOptimizer(0.01)
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return tf_estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf_estimator.Estimator(model_fn, "runs/v1")
estimator.train(input_fn, steps=10)

# %% BaselineClassifier, BaselineRegressor
for estimator in (tf_estimator.BaselineClassifier(), tf_estimator.BaselineRegressor()):
    estimator.train(input_fn, steps=10)

# %% LinearClassifier, LinearRegressor
optimizer = tf.compat.v1.train.FtrlOptimizer(0.1)
for estimator_class in (tf_estimator.LinearClassifier, tf_estimator.LinearRegressor):
    estimator_class([x, word], optimizer=optimizer).train(input_fn, steps=10)

# %% DNNClassifier, DNNRegressor
for estimator_class in (tf_estimator.DNNClassifier, tf_estimator.DNNRegressor):
    estimator_class([8], [x], optimizer="Adagrad").train(input_fn, steps=10)

# %% DNNLinearCombinedClassifier, DNNLinearCombinedRegressor
for estimator_class in (
    tf_estimator.DNNLinearCombinedClassifier,
    tf_estimator.DNNLinearCombinedRegressor,
):
    estimator = estimator_class(
        linear_feature_columns=[word], dnn_feature_columns=[x], dnn_hidden_units=[8]
    )
    estimator.train(input_fn, steps=10)

# %% BaselineEstimator, LinearEstimator, DNNEstimator, DNNLinearCombinedEstimator
head = tf_estimator.BinaryClassHead()
for estimator in (
    tf_estimator.BaselineEstimator(head),
    tf_estimator.LinearEstimator(head, [x]),
    tf_estimator.DNNEstimator(head, [8], [x]),
    tf_estimator.DNNLinearCombinedEstimator(head, dnn_feature_columns=[x], dnn_hidden_units=[8]),
):
    estimator.train(input_fn, steps=10)
