"""Comet, offline: import hooks on the classes of tensorflow_estimator."""

import glob
import json
import zipfile

import comet_ml

experiment = comet_ml.OfflineExperiment(
    project_name="p", offline_directory=".", log_code=False, log_git_metadata=False
)

import tensorflow as tf
from _common import input_fn, make_estimator

make_estimator("model").train(input_fn, steps=100)
replaced = [hasattr(tf.estimator.Estimator.train, "__wrapped__")]
experiment.end()
(path,) = glob.glob("*.zip")
lines = zipfile.ZipFile(path).read("messages.json").splitlines()
payloads = [json.loads(line)["payload"] for line in lines]
metrics = [payload["metric"] for payload in payloads if payload.get("metric")]
losses = [metric["step"] for metric in metrics if metric["metricName"] == "loss"]
given = [payload["param"] for payload in payloads if payload.get("param")]
parameters = {parameter["paramName"]: parameter["paramValue"] for parameter in given}
print(
    json.dumps({"losses": losses, "estimator": parameters.get("Estimator"), "replaced": replaced})
)
