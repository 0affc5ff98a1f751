"""User functions with one mistake each, for `--model=bad_job:...`."""

import numpy as np
import tensorflow as tf

import estimator_train as est
import estimator_train.compat.v1 as v1

not_a_function = 3


def good_model(features, labels, mode):
    return _model(features, labels, mode)


def _model(features, labels, mode, scale=1.0, size=3):
    w = tf.compat.v1.get_variable("w", [size, 1])
    predictions = features[:, :size] @ w
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"p": predictions})
    loss = tf.reduce_mean((predictions - labels) ** 2) * scale
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.01).minimize(loss, step)
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def nan_model(features, labels, mode):
    return _model(features, labels, mode, scale=float("nan"))


def wider_model(features, labels, mode):
    return _model(features, labels, mode, size=2)


def vector_loss_model(features, labels, mode):
    loss = tf.compat.v1.get_variable("w", [3]) * 1.0
    return est.EstimatorSpec(mode, loss=loss, train_op=tf.no_op())


def no_train_op_model(features, labels, mode):
    return est.EstimatorSpec(mode, loss=tf.constant(1.0))


def no_loss_model(features, labels, mode):
    return est.EstimatorSpec(mode, train_op=tf.no_op())


def no_spec_model(features, labels, mode):
    return {"loss": 1.0}


def estimator_elsewhere():
    return est.Estimator(good_model, "elsewhere")


def estimator_without_config(model_dir):
    return est.Estimator(good_model, model_dir)


def raising_model(features, labels, mode):
    raise ValueError("the layers do not fit: 3 and 4")


def no_features_model(inputs):
    return None


def strange_argument_model(features, labels, mode, colour):
    return None


def no_labels_model(features, mode):
    return _model(features, 0.0, mode)


def uncompiled_keras_model():
    import tf_keras

    return tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(3,))])


def compiled_keras_model():
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Input((3,), name="x"), tf_keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def keras_3_model():
    import keras

    return keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])


def model_that_is_none():
    return None


def good_input():
    x = np.ones([8, 3], np.float32)
    return tf.data.Dataset.from_tensors((x, x[:, :1])).repeat(4)


def endless_input():
    return good_input().repeat()


def other_names_input():
    return good_input().map(lambda x, y: ({"z": x}, y))


def no_input():
    return None


def generator_input():
    yield np.ones([8, 3], np.float32), np.ones([8, 1])


def triple_input():
    x = np.ones([8, 3], np.float32)
    return x, x, x


def empty_input():
    return good_input().take(0)


def raising_input():
    raise FileNotFoundError(2, "No such file or directory", "/no/such/rows.csv")


def number_that_breaks_input():
    check = tf.debugging.assert_less
    return good_input().map(lambda x, y: (tf.identity(x) + _checked(check, x), y))


def _checked(check, x):
    with tf.control_dependencies([check(x, 0.5, message="value above 0.5 in row 3")]):
        return tf.zeros_like(x)


def other_shape_input():
    x = np.ones([8, 2], np.float32)
    return tf.data.Dataset.from_tensors((x, x[:, :1])).repeat(4)


def text_input():
    x = np.full([8, 3], "much")
    return tf.data.Dataset.from_tensors((x, np.ones([8, 1], np.float32)))


def text_model(features, labels, mode):
    return _model(tf.cast(features, tf.float32), labels, mode)


def csv_with_a_word_input():
    with open("words.csv", "w") as file:
        file.write("1,1,1,1\n2,2,2,2\n3,two,3,3\n")
    lines = tf.data.TextLineDataset("words.csv")
    rows = lines.map(lambda line: tf.stack(tf.io.decode_csv(line, [[0.0]] * 4)))
    return rows.map(lambda row: (row[:3], row[3:])).batch(1)


def mixed_column_input():
    column = np.array([1.0, "two", 3.0], object)
    return v1.inputs.numpy_input_fn({"size": column}, np.ones(3, np.float32), shuffle=False)()


def size_model(features, labels, mode):
    lengths = tf.cast(tf.strings.length(features["size"]), tf.float32)
    return _model(tf.tile(lengths[:, tf.newaxis], [1, 3]), labels, mode)
