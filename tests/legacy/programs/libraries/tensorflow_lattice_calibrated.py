"""TensorFlow Lattice: a calibrated linear classifier trains, evaluates and exports."""

import os

import numpy as np
import tensorflow as tf
import tensorflow_lattice as tfl

x = np.linspace(0, 1, 64).astype(np.float32)
y = (x > 0.5).astype(np.int32)
columns = [tf.feature_column.numeric_column("x")]


def input_fn(epochs):
    return tf.compat.v1.estimator.inputs.numpy_input_fn(
        {"x": x}, y, batch_size=16, num_epochs=epochs, shuffle=False
    )


feature = tfl.configs.FeatureConfig(name="x", pwl_calibration_num_keypoints=5)
estimator = tfl.estimators.CannedClassifier(
    feature_columns=columns,
    model_config=tfl.configs.CalibratedLinearConfig(feature_configs=[feature]),
    feature_analysis_input_fn=input_fn(1),
    optimizer=tf.keras.optimizers.legacy.Adam(0.1),
    model_dir=os.environ["WORK_DIR"],
)
estimator.train(input_fn(5))
assert estimator.evaluate(input_fn(1))["accuracy"] > 0.8
spec = tf.feature_column.make_parse_example_spec(columns)
receiver_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
estimator.export_saved_model(os.path.join(os.environ["WORK_DIR"], "export"), receiver_fn)
