"""A Keras ranking network through model_to_estimator."""
import tensorflow as tf
import tensorflow_ranking as tfr
import ranking_data as data

work = data.directory()
_TRAIN, _TEST = work + "/train.tfrecords", work + "/test.tfrecords"
tf.compat.v1.set_random_seed(1)


context = {"query_tokens": data.words("query_tokens")}
examples = {"document_tokens": data.words("document_tokens"), "price": tf.feature_column.numeric_column("price", default_value=0.0)}


def input_fn(path, num_epochs=None):
    label = tf.feature_column.numeric_column("relevance", default_value=-1, dtype=tf.int64)

    def split(features):
        return features, tf.cast(tf.squeeze(features.pop("relevance"), axis=2), tf.float32)
    return tfr.data.build_ranking_dataset(
        file_pattern=path, data_format=tfr.data.ELWC, batch_size=8, list_size=6,
        context_feature_spec=tf.feature_column.make_parse_example_spec(context.values()),
        example_feature_spec=tf.feature_column.make_parse_example_spec([*examples.values(), label]),
        shuffle=False, num_epochs=num_epochs).map(split)


def dnn():
    return tfr.keras.canned.DNNRankingNetwork(
        context_feature_columns=context, example_feature_columns=examples, hidden_layer_dims=[8, 4],
        activation=tf.nn.relu, use_batch_norm=True)


def gam():
    return tfr.keras.canned.GAMRankingNetwork(
        context_feature_columns=context, example_feature_columns=examples, example_hidden_layer_dims=[4],
        context_hidden_layer_dims=[4], activation=tf.nn.relu)


L = tfr.keras.losses
for make, key in ((dnn, "softmax_loss"), (gam, "softmax_loss"), (dnn, "approx_ndcg_loss"), (dnn, "pairwise_logistic_loss"),
                  (dnn, "list_mle_loss"), (dnn, "sigmoid_cross_entropy_loss"), (gam, "mean_squared_loss")):
    loss, network = L.get(key), make()
    name = type(loss).__name__ + type(network).__name__
    ranker = tfr.keras.model.create_keras_model(
        network=network, loss=loss, metrics=tfr.keras.metrics.default_keras_metrics(),
        optimizer=tf.keras.optimizers.legacy.Adagrad(learning_rate=0.1), size_feature_name=None)
    estimator = tfr.keras.estimator.model_to_estimator(
        model=ranker, model_dir=work + "/" + name, config=tf.estimator.RunConfig(save_checkpoints_steps=20, tf_random_seed=3))
    train_spec = tf.estimator.TrainSpec(lambda: input_fn(_TRAIN), max_steps=30)
    eval_spec = tf.estimator.EvalSpec(lambda: input_fn(_TEST, 1), steps=None, throttle_secs=0)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    result = estimator.evaluate(lambda: input_fn(_TEST, 1))
    print("RESULT", name, {k: round(float(v), 4) for k, v in sorted(result.items())}, flush=True)
    assert result["global_step"] == 30 and result["metric/mrr"] > 0.5
    first = next(iter(estimator.predict(lambda: input_fn(_TEST, 1).map(lambda f, l: f))))
    print("PREDICT", getattr(first, "shape", first))
receiver = tfr.data.build_ranking_serving_input_receiver_fn(
    data_format=tfr.data.ELWC,
    context_feature_spec=tf.feature_column.make_parse_example_spec(context.values()),
    example_feature_spec=tf.feature_column.make_parse_example_spec(examples.values()))
path = estimator.export_saved_model(work + "/export", receiver)
path = path.decode() if isinstance(path, bytes) else path
out = tf.saved_model.load(path).signatures["serving_default"](tf.constant(data.records(2)[:3]))
print("SERVED", {k: tuple(v.shape) for k, v in out.items()})
