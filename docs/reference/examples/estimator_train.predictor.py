"""Examples of `estimator_train.predictor`: a section for one or several names."""

import estimator_train as est
import tensorflow as tf


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[1.0], [2.0]])).repeat()


estimator = est.LinearRegressor([tf.feature_column.numeric_column("x")], "runs/model")
estimator.train(input_fn, steps=10)
receiver_fn = est.export.build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None, 1])})

# %% EstimatorPredictor
predictor: est.predictor.EstimatorPredictor
with estimator.predictor(reload=True) as predictor:  # Loads each newer checkpoint.
    print(predictor.predict({"x": [[1.0], [2.0]]})["predictions"])

# %% Predictor, from_saved_model
path = estimator.export_saved_model("runs/export", receiver_fn)
predictor: est.predictor.Predictor
with est.predictor.from_saved_model(path, signature_def_key="predict") as predictor:
    print(predictor({"x": [[1.0]]})["predictions"])

# %% from_estimator, from_contrib_estimator
predict = est.predictor.from_estimator(estimator, receiver_fn, "predict")
print(predict.predict({"x": [[1.0]]})["predictions"])
same = est.predictor.from_contrib_estimator  # The name in tf.contrib.predictor.
