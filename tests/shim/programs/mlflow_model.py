"""Writes an export as a model of MLflow, and prints what MLflow predicts and what to expect."""

import json
import os
import shutil

import mlflow
import numpy as np
import tensorflow as tf
from mlflow.models import Model

import estimator_train as est

columns = [tf.feature_column.numeric_column(name) for name in "xy"]
rows = {"x": np.float32([1, 2]), "y": np.float32([3, 4])}
estimator = est.DNNRegressor([4], columns, "run")
estimator.train(lambda: tf.data.Dataset.from_tensors((rows, [0.0, 1.0])), steps=2)
receiver_fn = est.export.build_raw_serving_input_receiver_fn(
    {name: tf.TensorSpec([None], tf.float32) for name in rows}
)
path = estimator.export_saved_model("saved", receiver_fn, outputs=["predictions"])

shutil.copytree(path.decode(), "model/saved")
model = Model()
model.add_flavor("python_function", loader_module="mlflow.tensorflow", python_version="3")
model.add_flavor(
    "tensorflow",
    saved_model_dir="saved",
    model_type="tf1-estimator",
    meta_graph_tags=["serve"],
    signature_def_key="serving_default",
)
model.save("model/MLmodel")

found = mlflow.pyfunc.load_model(os.path.abspath("model")).predict(rows)["predictions"]
wanted = [
    float(p["predictions"][0])
    for p in estimator.predict(lambda: tf.data.Dataset.from_tensors(rows))
]
print(json.dumps([[float(value) for value in found], wanted]))
