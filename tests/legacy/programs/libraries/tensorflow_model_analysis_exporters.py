"""TensorFlow Model Analysis: a classifier trains, evaluates and exports a model for evaluations."""

import os

import numpy as np
import tensorflow as tf
import tensorflow_model_analysis.export_only as tfma_export

x = np.linspace(-1, 1, 64).astype(np.float32)
y = (x > 0).astype(np.int32)
columns = [tf.feature_column.numeric_column("x")]
spec = tf.feature_column.make_parse_example_spec(columns)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(5).batch(16)


def eval_input_receiver_fn():
    examples = tf.compat.v1.placeholder(tf.string, [None], "examples")
    features = tf.io.parse_example(examples, {**spec, "label": tf.io.FixedLenFeature([1], tf.int64)})
    return tfma_export.export.EvalInputReceiver(
        features=features, labels=features["label"], receiver_tensors={"examples": examples}
    )


estimator = tf.estimator.LinearClassifier(columns, model_dir=os.environ["WORK_DIR"])
exporter = tfma_export.exporter.LatestExporter(
    name="tfma", eval_input_receiver_fn=eval_input_receiver_fn
)
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(input_fn, max_steps=20),
    tf.estimator.EvalSpec(input_fn, exporters=exporter),
)
folder = tfma_export.export.export_eval_savedmodel(
    estimator=estimator,
    export_dir_base=os.path.join(os.environ["WORK_DIR"], "eval"),
    eval_input_receiver_fn=eval_input_receiver_fn,
)
assert tf.io.gfile.exists(os.path.join(folder, b"saved_model.pb"))
print(sorted(tf.io.gfile.listdir(os.path.join(os.environ["WORK_DIR"], "export", "tfma"))) != [])
