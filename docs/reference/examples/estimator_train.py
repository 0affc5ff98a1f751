"""Examples of `estimator_train`: a section for one or several names."""

import estimator_train as est
import tensorflow as tf

x = tf.feature_column.numeric_column("x")
word = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"])
vector = tf.feature_column.embedding_column(word, 2)


def input_fn():
    features = {"x": [[1.0], [2.0], [3.0], [4.0]], "word": ["a", "a", "b", "b"]}
    return tf.data.Dataset.from_tensor_slices((features, [[0], [0], [1], [1]])).repeat().batch(4)


def model_fn(features, labels, mode):
    weight = tf.compat.v1.get_variable("weight", [1])
    output = features["x"] * weight
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"output": output})
    loss = tf.reduce_mean(tf.square(output - tf.cast(labels, tf.float32)))
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.01)
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


# %% Estimator, EstimatorSpec, ModeKeys
estimator = est.Estimator(model_fn, "runs/linear")
estimator.train(input_fn, steps=100)
print(estimator.evaluate(input_fn, steps=1))
print(next(estimator.predict(input_fn)))  # {'output': array([...])}

# %% RunConfig
config = est.RunConfig(save_checkpoints_steps=50, keep_checkpoint_max=2, tf_random_seed=1)
est.Estimator(model_fn, "runs/config", config).train(input_fn, max_steps=100)

# %% TrainSpec, EvalSpec, train_and_evaluate
train_spec = est.TrainSpec(input_fn, max_steps=100)
eval_spec = est.EvalSpec(input_fn, steps=1)
metrics, exports = est.train_and_evaluate(
    est.Estimator(model_fn, "runs/both"), train_spec, eval_spec
)
print(metrics["global_step"])  # 100

# %% Preemption, Preempted
config = est.RunConfig(preemption=est.Preemption(("SIGTERM",), grace_secs=30))
try:
    est.Estimator(model_fn, "runs/job", config).train(input_fn, max_steps=100)
except est.Preempted as stop:  # After SIGTERM; a SystemExit whose code is 143.
    print(stop.code)

# %% WarmStartSettings
first = est.DNNClassifier([4], [x], model_dir="runs/first")
first.train(input_fn, steps=10)
settings = est.WarmStartSettings("runs/first", vars_to_warm_start="dnn/hiddenlayer_0.*")
second = est.DNNClassifier([4], [x], n_classes=3, warm_start_from=settings)
second.train(input_fn, steps=10)

# %% VocabInfo
with open("old.txt", "w") as old, open("new.txt", "w") as new:
    print("a", "b", sep="\n", file=old)
    print("b", "c", "a", sep="\n", file=new)


def make_estimator(vocabulary, size, **settings):
    words = tf.feature_column.categorical_column_with_vocabulary_file("word", vocabulary, size)
    column = tf.feature_column.embedding_column(words, 2)
    return est.DNNClassifier([4], [column], **settings), words


old, _ = make_estimator("old.txt", 2, model_dir="runs/old")
old.train(input_fn, steps=10)
_, words = make_estimator("new.txt", 3)
name = "dnn/input_from_feature_columns/input_layer/word_embedding/embedding_weights"
info = est.VocabInfo(words.vocabulary_file, 3, 0, "old.txt", old_vocab_size=2)
settings = est.WarmStartSettings("runs/old", var_name_to_vocab_info={name: info})
new, _ = make_estimator("new.txt", 3, warm_start_from=settings)
new.train(input_fn, steps=10)

# %% add_metrics


def largest(labels, predictions):
    metric = tf.keras.metrics.Mean("largest")
    metric.update_state(tf.reduce_max(predictions["probabilities"], axis=-1))
    return {"largest": metric}


estimator = est.add_metrics(est.LinearClassifier([x]), largest)
estimator.train(input_fn, steps=10)
print(estimator.evaluate(input_fn, steps=1)["largest"])

# %% BaselineClassifier, BaselineRegressor
classifier = est.BaselineClassifier()  # Learns the frequencies of the classes.
classifier.train(input_fn, steps=10)
regressor = est.BaselineRegressor()  # Learns the mean of the labels.
regressor.train(input_fn, steps=10)

# %% LinearClassifier
estimator = est.LinearClassifier([x, word], optimizer="Ftrl")
estimator.train(input_fn, steps=10)
print(estimator.evaluate(input_fn, steps=1)["accuracy"])

# %% LinearRegressor
estimator = est.LinearRegressor([x])
estimator.train(input_fn, steps=10)

# %% DNNClassifier
estimator = est.DNNClassifier([8, 4], [x, vector], n_classes=2, dropout=0.1)
estimator.train(input_fn, steps=10)
print(estimator.evaluate(input_fn, steps=1)["accuracy"])

# %% DNNRegressor
estimator = est.DNNRegressor([8], [x], optimizer=lambda: tf.keras.optimizers.legacy.Adam(0.01))
estimator.train(input_fn, steps=10)

# %% DNNLinearCombinedClassifier
estimator = est.DNNLinearCombinedClassifier(
    linear_feature_columns=[word], dnn_feature_columns=[x, vector], dnn_hidden_units=[8]
)
estimator.train(input_fn, steps=10)

# %% DNNLinearCombinedRegressor
estimator = est.DNNLinearCombinedRegressor(
    linear_feature_columns=[word], dnn_feature_columns=[x], dnn_hidden_units=[8]
)
estimator.train(input_fn, steps=10)

# %% BoostedTreesClassifier
buckets = tf.feature_column.bucketized_column(x, [1.5, 2.5, 3.5])
estimator = est.BoostedTreesClassifier([buckets], n_batches_per_layer=1, n_trees=5, max_depth=2)
estimator.train(input_fn, max_steps=10)

# %% BoostedTreesRegressor
buckets = tf.feature_column.bucketized_column(x, [1.5, 2.5, 3.5])
estimator = est.BoostedTreesRegressor([buckets], n_batches_per_layer=1, n_trees=5, max_depth=2)
estimator.train(input_fn, max_steps=10)

# %% BoostedTreesEstimator
buckets = tf.feature_column.bucketized_column(x, [1.5, 2.5, 3.5])
head = est.BinaryClassHead()
estimator = est.BoostedTreesEstimator([buckets], 1, head, n_trees=5, max_depth=2)
estimator.train(input_fn, max_steps=10)

# %% Head, BinaryClassHead, BaselineEstimator, LinearEstimator
head: est.Head = est.BinaryClassHead(thresholds=[0.3])
for estimator in (est.BaselineEstimator(head), est.LinearEstimator(head, [x])):
    estimator.train(input_fn, steps=10)
    print(estimator.evaluate(input_fn, steps=1)["recall/positive_threshold_0.3"])

# %% MultiClassHead, DNNEstimator
estimator = est.DNNEstimator(est.MultiClassHead(n_classes=3), [8], [x])
estimator.train(input_fn, steps=10)

# %% RegressionHead, DNNLinearCombinedEstimator
estimator = est.DNNLinearCombinedEstimator(
    est.RegressionHead(),
    linear_feature_columns=[word],
    dnn_feature_columns=[x],
    dnn_hidden_units=[8],
)
estimator.train(input_fn, steps=10)

# %% PoissonRegressionHead
estimator = est.LinearEstimator(est.PoissonRegressionHead(), [x])  # Predicts counts.
estimator.train(input_fn, steps=10)

# %% LogisticRegressionHead
estimator = est.LinearEstimator(est.LogisticRegressionHead(), [x])  # Labels from 0 to 1.
estimator.train(input_fn, steps=10)

# %% MultiLabelHead


def several_labels():
    return input_fn().map(lambda features, labels: (features, tf.concat([labels, 1 - labels], 1)))


estimator = est.LinearEstimator(est.MultiLabelHead(n_classes=2), [x])
estimator.train(several_labels, steps=10)

# %% MultiHead


def two_labels():
    return input_fn().map(lambda features, labels: (features, {"rank": labels, "kind": labels}))


heads = [est.RegressionHead(name="rank"), est.BinaryClassHead(name="kind")]
estimator = est.DNNEstimator(est.MultiHead(heads, [1.0, 0.5]), [8], [x])
estimator.train(two_labels, steps=10)
print(estimator.evaluate(two_labels, steps=1)["loss/kind"])

# %% Exporter, BestExporter, FinalExporter, LatestExporter
receiver_fn = est.export.build_parsing_serving_input_receiver_fn(
    tf.feature_column.make_parse_example_spec([x])
)
exporters: list[est.Exporter] = [
    est.BestExporter("best", receiver_fn),  # After each evaluation with a lower loss.
    est.LatestExporter("latest", receiver_fn, exports_to_keep=3),  # After each evaluation.
    est.FinalExporter("final", receiver_fn),  # After the last evaluation.
]
est.train_and_evaluate(
    est.LinearClassifier([x], "runs/exported"),
    est.TrainSpec(input_fn, max_steps=20),
    est.EvalSpec(input_fn, steps=1, exporters=exporters),
)
print(sorted(tf.io.gfile.listdir("runs/exported/export")))  # ['best', 'final', 'latest']

# %% classifier_parse_example_spec
spec = est.classifier_parse_example_spec([x], label_key="label", label_dtype=tf.int64)
print(sorted(spec))  # ['label', 'x']

# %% regressor_parse_example_spec
spec = est.regressor_parse_example_spec([x], label_key="price", label_dtype=tf.float32)
print(sorted(spec))  # ['price', 'x']

# %% SessionRunHook, SessionRunArgs, SessionRunContext, SessionRunValues


class PrintLoss(est.SessionRunHook):
    def before_run(self, run_context: est.SessionRunContext) -> est.SessionRunArgs:
        return est.SessionRunArgs({"loss": "Mean:0"})

    def after_run(
        self, run_context: est.SessionRunContext, run_values: est.SessionRunValues
    ) -> None:
        print(run_values.results["loss"])
        if run_values.results["loss"] < 1:
            run_context.request_stop()


est.Estimator(model_fn).train(input_fn, hooks=[PrintLoss()], steps=10)

# %% CheckpointSaverListener


class PrintSaves(est.CheckpointSaverListener):
    def after_save(self, session, global_step_value):
        print("saved", global_step_value)


est.Estimator(model_fn).train(input_fn, steps=10, saving_listeners=[PrintSaves()])

# %% CheckpointSaverHook
hook = est.CheckpointSaverHook("runs/copies", save_steps=5)
est.Estimator(model_fn).train(input_fn, hooks=[hook], steps=10)

# %% LoggingTensorHook
hook = est.LoggingTensorHook({"weight": "weight:0"}, every_n_iter=5)
est.Estimator(model_fn).train(input_fn, hooks=[hook], steps=10)

# %% StopAtStepHook
estimator = est.Estimator(model_fn)
estimator.train(input_fn, hooks=[est.StopAtStepHook(last_step=7)])
print(estimator.get_variable_value("global_step"))  # 7

# %% NanTensorHook, NanLossDuringTrainingError


def bad_model_fn(features, labels, mode):
    spec = model_fn(features, labels, mode)
    return spec._replace(loss=spec.loss / 0.0 * 0.0)


try:
    est.Estimator(bad_model_fn).train(input_fn, steps=10)  # Has a NanTensorHook of the loss.
except est.NanLossDuringTrainingError as error:
    print(error)
hook = est.NanTensorHook("Mean:0", fail_on_nan_loss=False)  # Stops without an error.
est.Estimator(model_fn).train(input_fn, hooks=[hook], steps=10)

# %% StepCounterHook
hook = est.StepCounterHook(every_n_steps=5, output_dir="runs/speed")
est.Estimator(model_fn).train(input_fn, hooks=[hook], steps=10)

# %% SummarySaverHook


def model_with_summary(features, labels, mode):
    spec = model_fn(features, labels, mode)
    summary = tf.compat.v1.summary.scalar("half", spec.loss / 2)
    hook = est.SummarySaverHook(5, output_dir="runs/summaries", summary_op=summary)
    return spec._replace(training_hooks=[hook])


est.Estimator(model_with_summary).train(input_fn, steps=10)

# %% FeedFnHook, FinalOpsHook


def model_with_scale(features, labels, mode):
    scale = tf.compat.v1.placeholder_with_default(1.0, [])
    spec = model_fn({"x": features["x"] * scale}, labels, mode)
    feed = est.FeedFnHook(lambda: {scale: 0.5})
    final = est.FinalOpsHook(tf.compat.v1.train.get_global_step())
    return spec._replace(training_hooks=[feed, final])


est.Estimator(model_with_scale).train(input_fn, steps=10)

# %% GlobalStepWaiterHook
hook = est.GlobalStepWaiterHook(wait_until_step=0)  # A worker that begins at a later step.
est.Estimator(model_fn).train(input_fn, hooks=[hook], steps=10)

# %% ProfilerHook


def model_with_profile(features, labels, mode):
    hook = est.ProfilerHook(save_steps=5, output_dir="runs/profile")
    return model_fn(features, labels, mode)._replace(training_hooks=[hook])


est.Estimator(model_with_profile).train(input_fn, steps=10)
print(len(tf.io.gfile.glob("runs/profile/timeline-*.json")))  # 2

# %% SecondOrStepTimer
timer = est.SecondOrStepTimer(every_steps=10)
timer.update_last_triggered_step(0)
print([step for step in (5, 10) if timer.should_trigger_for_step(step)])  # [10]
