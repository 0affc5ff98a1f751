"""A groupwise ranking model on sparse features, after TF-Ranking's tutorial notebook."""
import tensorflow as tf
import tensorflow_ranking as tfr
import ranking_data as data

work = data.directory()
_TRAIN, _TEST = work + "/train.tfrecords", work + "/test.tfrecords"
_VOCAB = data.VOCABULARY
tf.compat.v1.set_random_seed(1)
_LABEL = "relevance"
_LIST_SIZE, _BATCH, _STEPS, _GROUP = 6, 8, 40, 2


def context_feature_columns():
    sparse = tf.feature_column.categorical_column_with_vocabulary_list("query_tokens", _VOCAB)
    return {"query_tokens": tf.feature_column.embedding_column(sparse, 4)}


def example_feature_columns():
    sparse = tf.feature_column.categorical_column_with_vocabulary_list("document_tokens", _VOCAB)
    return {
        "document_tokens": tf.feature_column.embedding_column(sparse, 4),
        "price": tf.feature_column.numeric_column("price", default_value=0.0),
    }


def input_fn(path, num_epochs=None):
    context_spec = tf.feature_column.make_parse_example_spec(context_feature_columns().values())
    label_column = tf.feature_column.numeric_column(_LABEL, dtype=tf.int64, default_value=-1)
    example_spec = tf.feature_column.make_parse_example_spec(
        list(example_feature_columns().values()) + [label_column])
    dataset = tfr.data.build_ranking_dataset(
        file_pattern=path,
        data_format=tfr.data.ELWC,
        batch_size=_BATCH,
        list_size=_LIST_SIZE,
        context_feature_spec=context_spec,
        example_feature_spec=example_spec,
        reader=tf.data.TFRecordDataset,
        shuffle=False,
        num_epochs=num_epochs)
    features = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    label = tf.squeeze(features.pop(_LABEL), axis=2)
    label = tf.cast(label, tf.float32)
    return features, label


def make_transform_fn():
    def _transform_fn(features, mode):
        return tfr.feature.encode_listwise_features(
            features=features,
            context_feature_columns=context_feature_columns(),
            example_feature_columns=example_feature_columns(),
            mode=mode,
            scope="transform_layer")
    return _transform_fn


def make_score_fn():
    def _score_fn(context_features, group_features, mode, params, config):
        with tf.compat.v1.name_scope("input_layer"):
            context_input = [tf.compat.v1.layers.flatten(context_features[n])
                             for n in sorted(context_feature_columns())]
            group_input = [tf.compat.v1.layers.flatten(group_features[n])
                           for n in sorted(example_feature_columns())]
            input_layer = tf.concat(context_input + group_input, 1)
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        cur_layer = tf.compat.v1.layers.batch_normalization(input_layer, training=is_training, momentum=0.99)
        for layer_width in (16, 8):
            cur_layer = tf.compat.v1.layers.dense(cur_layer, units=layer_width)
            cur_layer = tf.compat.v1.layers.batch_normalization(cur_layer, training=is_training, momentum=0.99)
            cur_layer = tf.nn.relu(cur_layer)
            cur_layer = tf.compat.v1.layers.dropout(inputs=cur_layer, rate=0.0, training=is_training)
        return tf.compat.v1.layers.dense(cur_layer, units=_GROUP)
    return _score_fn


def eval_metric_fns():
    fns = {"metric/ndcg@%d" % n: tfr.metrics.make_ranking_metric_fn(
        tfr.metrics.RankingMetricKey.NDCG, topn=n) for n in (1, 3)}
    fns["metric/mrr"] = tfr.metrics.make_ranking_metric_fn(tfr.metrics.RankingMetricKey.MRR)
    return fns


optimizer = tf.compat.v1.train.AdagradOptimizer(learning_rate=0.1)


def _train_op_fn(loss):
    update_ops = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
    minimize_op = optimizer.minimize(loss=loss, global_step=tf.compat.v1.train.get_global_step())
    return tf.group([update_ops, minimize_op])


_LOSS = tfr.losses.RankingLossKey.APPROX_NDCG_LOSS
ranking_head = tfr.head.create_ranking_head(
    loss_fn=tfr.losses.make_loss_fn(_LOSS),
    eval_metric_fns=eval_metric_fns(),
    train_op_fn=_train_op_fn)
model_fn = tfr.model.make_groupwise_ranking_fn(
    group_score_fn=make_score_fn(),
    transform_fn=make_transform_fn(),
    group_size=_GROUP,
    ranking_head=ranking_head)
ranker = tf.estimator.Estimator(
    model_fn=model_fn,
    model_dir=work + "/model",
    config=tf.estimator.RunConfig(save_checkpoints_steps=20, tf_random_seed=3))
train_spec = tf.estimator.TrainSpec(input_fn=lambda: input_fn(_TRAIN), max_steps=_STEPS)


def serving():
    context_spec = tf.feature_column.make_parse_example_spec(context_feature_columns().values())
    example_spec = tf.feature_column.make_parse_example_spec(example_feature_columns().values())
    return tfr.data.build_ranking_serving_input_receiver_fn(
        data_format=tfr.data.ELWC, context_feature_spec=context_spec, example_feature_spec=example_spec)


eval_spec = tf.estimator.EvalSpec(
    name="eval", input_fn=lambda: input_fn(_TEST, num_epochs=1), throttle_secs=0, steps=None,
    exporters=[tf.estimator.LatestExporter("latest", serving())])
tf.estimator.train_and_evaluate(ranker, train_spec, eval_spec)
result = ranker.evaluate(input_fn=lambda: input_fn(_TEST, num_epochs=1))
print("RESULT", {k: round(float(v), 4) for k, v in sorted(result.items())})
scores = list(ranker.predict(input_fn=lambda: input_fn(_TEST, num_epochs=1)[0]))
print("PREDICT", len(scores), scores[0].round(3).tolist())
assert result["global_step"] == _STEPS and len(scores) == 24 and scores[0].shape == (6,)
path = ranker.export_saved_model(work + "/export", serving())
loaded = tf.saved_model.load(path.decode() if isinstance(path, bytes) else path)
out = loaded.signatures["serving_default"](tf.constant(data.records(2)[:3]))
print("SERVED", {k: tuple(v.shape) for k, v in out.items()}, list(out.values())[0].numpy()[0].round(3).tolist())
assert [v.shape for v in out.values()] == [(3, 5)]
