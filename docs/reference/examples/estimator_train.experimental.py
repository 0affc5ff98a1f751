"""Examples of `estimator_train.experimental`: a section for one or several names."""

import estimator_train as est
import tensorflow as tf

x = tf.feature_column.numeric_column("x")


def input_fn():
    features = {"x": [[1.0], [2.0], [3.0], [4.0]], "key": ["a", "b", "c", "d"]}
    return tf.data.Dataset.from_tensor_slices((features, [[0], [0], [1], [1]])).repeat().batch(4)


# %% InMemoryEvaluatorHook
estimator = est.LinearClassifier([x])
hook = est.experimental.InMemoryEvaluatorHook(estimator, input_fn, steps=1, every_n_iter=10)
estimator.train(input_fn, steps=20, hooks=[hook])

# %% LinearSDCA
optimizer = est.experimental.LinearSDCA("key", symmetric_l2_regularization=1.0)
estimator = est.LinearClassifier([x], optimizer=optimizer)
estimator.train(input_fn, steps=10)

# %% RNNClassifier, RNNEstimator


def words():
    sentences = tf.ragged.constant([["a", "b"], ["b"]]).to_sparse()
    return tf.data.Dataset.from_tensors(({"words": sentences}, [[0], [1]])).repeat()


column = tf.feature_column.sequence_categorical_column_with_vocabulary_list("words", ["a", "b"])
columns = [tf.feature_column.embedding_column(column, 2)]
classifier = est.experimental.RNNClassifier(columns, units=[4], cell_type="gru")
classifier.train(words, steps=10)
head = est.BinaryClassHead()
est.experimental.RNNEstimator(head, columns, units=[4], cell_type="lstm").train(words, steps=10)

# %% build_raw_supervised_input_receiver_fn
estimator = est.LinearClassifier([x])
estimator.train(input_fn, steps=10)
receiver_fn = est.experimental.build_raw_supervised_input_receiver_fn(
    {"x": tf.TensorSpec([None, 1])}, tf.TensorSpec([None, 1], tf.int64)
)
path = estimator.experimental_export_all_saved_models(
    "runs/supervised", {est.ModeKeys.EVAL: receiver_fn}
)

# %% call_logit_fn


def logit_fn(features, mode):
    return tf.compat.v1.layers.dense(features["x"], 1)


def model_fn(features, labels, mode):
    logits = est.experimental.call_logit_fn(logit_fn, features, mode, params=None, config=None)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)

    def train_op_fn(loss):
        return optimizer.minimize(loss, tf.compat.v1.train.get_global_step())

    head = est.BinaryClassHead()
    return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op_fn)


est.Estimator(model_fn).train(input_fn, steps=10)

# %% make_early_stopping_hook
estimator = est.LinearClassifier([x])
hook = est.experimental.make_early_stopping_hook(
    estimator, lambda: True, run_every_secs=None, run_every_steps=5
)
estimator.train(input_fn, max_steps=100, hooks=[hook])
print(estimator.get_variable_value("global_step"))  # 1

# %% stop_if_higher_hook, stop_if_lower_hook, stop_if_no_decrease_hook, stop_if_no_increase_hook
estimator = est.LinearClassifier([x], model_dir="runs/stopped")
stop = est.experimental
every = {"run_every_secs": None, "run_every_steps": 10}
hooks = [
    stop.stop_if_higher_hook(estimator, "accuracy", 0.99, **every),
    stop.stop_if_lower_hook(estimator, "loss", 0.1, **every),
    stop.stop_if_no_decrease_hook(estimator, "loss", 1000, **every),
    stop.stop_if_no_increase_hook(estimator, "accuracy", 1000, **every),
]
train_spec = est.TrainSpec(input_fn, max_steps=200, hooks=hooks)
est.train_and_evaluate(estimator, train_spec, est.EvalSpec(input_fn, steps=1))

# %% make_stop_at_checkpoint_step_hook
estimator = est.LinearClassifier([x])
hook = est.experimental.make_stop_at_checkpoint_step_hook(estimator, last_step=20)
estimator.train(input_fn, max_steps=20, hooks=[hook])  # For the workers of a cluster.
