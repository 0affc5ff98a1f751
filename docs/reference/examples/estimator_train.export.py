"""Examples of `estimator_train.export`: a section for one or several names."""

import estimator_train as est
import tensorflow as tf

x = tf.feature_column.numeric_column("x")


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[0], [1]])).repeat()


estimator = est.LinearClassifier([x], model_dir="runs/model")
estimator.train(input_fn, steps=10)

# %% build_parsing_serving_input_receiver_fn
spec = tf.feature_column.make_parse_example_spec([x])
receiver_fn = est.export.build_parsing_serving_input_receiver_fn(spec)
path = estimator.export_saved_model("runs/export", receiver_fn)  # Takes tf.Example protos.

# %% build_raw_serving_input_receiver_fn
receiver_fn = est.export.build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None, 1])})
path = estimator.export_saved_model("runs/export", receiver_fn)  # Takes arrays.
signature = tf.saved_model.load(path).signatures["predict"]
print(signature(x=tf.constant([[1.0]]))["probabilities"])

# %% Conversion, convert


def rows():
    return tf.data.Dataset.from_tensor_slices({"x": [[1.0], [2.0]]}).batch(2)


conversion = est.export.convert(estimator, "runs/onnx", rows, to="onnx")
assert isinstance(conversion, est.export.Conversion)
print(conversion.path, conversion.differences["probabilities"])

# %% convert_boosted_trees
old_dir = "exported/1546300800"  # By a BoostedTreesClassifier of tf.estimator.
if tf.saved_model.contains_saved_model(old_dir):
    est.export.convert_boosted_trees(old_dir, "exported/converted")

# %% ServingInputReceiver


def receiver_fn():
    text = tf.compat.v1.placeholder(tf.string, [None])
    numbers = tf.strings.to_number(text)[:, None]
    return est.export.ServingInputReceiver({"x": numbers}, {"text": text})


path = estimator.export_saved_model("runs/export", receiver_fn)

# %% TensorServingInputReceiver


def model_of_a_tensor(features, labels, mode):
    output = features * tf.compat.v1.get_variable("w", [1])
    step = tf.compat.v1.train.get_or_create_global_step()
    loss = tf.reduce_mean(output)
    predictions = {"output": output}
    return est.EstimatorSpec(mode, predictions, loss, train_op=step.assign_add(1))


def tensor_receiver_fn():
    numbers = tf.compat.v1.placeholder(tf.float32, [None, 1])
    return est.export.TensorServingInputReceiver(numbers, {"numbers": numbers})


linear = est.Estimator(model_of_a_tensor)  # Its features are one tensor, not a dict.
linear.train(lambda: tf.data.Dataset.from_tensors([[1.0], [2.0]]), steps=1)
path = linear.export_saved_model("runs/tensor", tensor_receiver_fn)

# %% PredictOutput, ClassificationOutput, RegressionOutput, ExportOutput, EvalOutput


def model_fn(features, labels, mode):
    scores = tf.nn.sigmoid(features["x"] * tf.compat.v1.get_variable("w", [1]))
    outputs: dict[str, est.export.ExportOutput] = {
        "serving_default": est.export.PredictOutput({"scores": scores}),
        "classes": est.export.ClassificationOutput(scores=scores),
        "values": est.export.RegressionOutput(scores),
    }
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"scores": scores}, export_outputs=outputs)
    loss = tf.reduce_mean(tf.square(scores - tf.cast(labels, tf.float32)))
    step = tf.compat.v1.train.get_global_step()
    return est.EstimatorSpec(mode, loss=loss, train_op=step.assign_add(1))


own = est.Estimator(model_fn)
own.train(input_fn, steps=1)
receiver_fn = est.export.build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None, 1])})
path = own.export_saved_model("runs/own", receiver_fn)
print(sorted(tf.saved_model.load(path).signatures))  # ['serving_default']
evaluation = est.export.EvalOutput(loss=tf.constant(0.5))  # Of an exported evaluation.
print(evaluation.loss)

# %% write_variables
est.export.write_variables(estimator.latest_checkpoint(), "runs/model.safetensors", "safetensors")
