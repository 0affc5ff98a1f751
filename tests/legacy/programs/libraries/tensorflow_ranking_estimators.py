"""EstimatorBuilder, the premade DNN and GAM estimators, two heads in one."""
import tensorflow as tf
import tensorflow_ranking as tfr
import ranking_data as data

work = data.directory()
_TRAIN, _TEST = work + "/train.tfrecords", work + "/test.tfrecords"
tf.compat.v1.set_random_seed(1)


def context_columns():
    return {"query_tokens": data.words("query_tokens")}


def example_columns():
    return {"document_tokens": data.words("document_tokens"), "price": tf.feature_column.numeric_column("price", default_value=0.0)}


def dataset(path, labels=True, num_epochs=None):
    context_spec = tf.feature_column.make_parse_example_spec(context_columns().values())
    columns = list(example_columns().values())
    columns += [tf.feature_column.numeric_column("relevance", default_value=-1, dtype=tf.int64)]
    example_spec = tf.feature_column.make_parse_example_spec(columns)

    def split(features):
        label = tf.cast(tf.squeeze(features.pop("relevance"), axis=2), tf.float32)
        return (features, label) if labels else features
    return tfr.data.build_ranking_dataset(
        file_pattern=path, data_format=tfr.data.ELWC, batch_size=8, list_size=6,
        context_feature_spec=context_spec, example_feature_spec=example_spec,
        shuffle=False, num_epochs=num_epochs).map(split)


def scoring_function(context_features, example_features, mode):
    layers = [tf.compat.v1.layers.flatten(context_features[n]) for n in sorted(context_features)]
    layers += [tf.compat.v1.layers.flatten(example_features[n]) for n in sorted(example_features)]
    return tf.compat.v1.layers.dense(tf.concat(layers, 1), 1)


hparams = dict(checkpoint_secs=120, num_checkpoints=3, listwise_inference=True, loss="softmax_loss",
               model_dir=work + "/builder", learning_rate=0.1)


class Builder(tfr.estimator.EstimatorBuilder):
    def _eval_metric_fns(self):
        return {"metric/map@%d" % n: tfr.metrics.make_ranking_metric_fn(
            tfr.metrics.RankingMetricKey.MAP, topn=n) for n in (5, 10)}


def run(name, estimator):
    estimator.train(lambda: dataset(_TRAIN), steps=30)
    result = estimator.evaluate(lambda: dataset(_TEST, num_epochs=1))
    assert result["global_step"] == 30 and result["loss"] < 100
    print("RESULT", name, {k: round(float(v), 4) for k, v in sorted(result.items())}, flush=True)


run("builder", Builder(context_columns(), example_columns(), scoring_function=scoring_function,
                       hparams=hparams).make_estimator())
run("plain", tfr.estimator.EstimatorBuilder(
    context_columns(), example_columns(), scoring_function=scoring_function,
    optimizer=tf.compat.v1.train.AdamOptimizer(0.01),
    hparams={**hparams, "model_dir": work + "/plain", "loss": "approx_ndcg_loss:0.6,softmax_loss:0.4", "learning_rate": None}).make_estimator())
dnn = tfr.estimator.make_dnn_ranking_estimator(
    example_columns(), [8, 4], context_feature_columns=context_columns(), use_batch_norm=True,
    dropout=0.1, model_dir=work + "/dnn", listwise_inference=True)
run("dnn", dnn)
print("PREDICT", next(dnn.predict(lambda: dataset(_TEST, False, 1))).shape)
gam = tfr.estimator.make_gam_ranking_estimator(
    example_columns(), [4], context_feature_columns=context_columns(), context_hidden_units=[4],
    model_dir=work + "/gam", listwise_inference=True)
run("gam", gam)

def model_fn():
    heads = [tfr.head.create_ranking_head(
        loss_fn=tfr.losses.make_loss_fn(key), name=name,
        eval_metric_fns={"mrr": tfr.metrics.make_ranking_metric_fn("mrr")},
        optimizer=tf.compat.v1.train.AdagradOptimizer(0.1))
        for name, key in (("a", "softmax_loss"), ("b", "pairwise_logistic_loss"))]
    both = tfr.head.create_multi_ranking_head(heads, [1.0, 0.5])
    def score(context_features, group_features, mode, params, config):
        layers = [tf.compat.v1.layers.flatten(v) for _, v in sorted(group_features.items())]
        x = tf.concat(layers, 1)
        return {"a": tf.compat.v1.layers.dense(x, 1), "b": tf.compat.v1.layers.dense(x, 1)}
    def transform(features, mode):
        return tfr.feature.encode_listwise_features(
            features, context_feature_columns=context_columns(), example_feature_columns=example_columns(),
            mode=mode, scope="t")
    return tfr.model.make_groupwise_ranking_fn(group_score_fn=score, group_size=1, transform_fn=transform, ranking_head=both)

multi = tf.estimator.Estimator(model_fn(), model_dir=work + "/multi")
def two():
    return dataset(_TRAIN, num_epochs=3).map(lambda f, l: (f, {"a": l, "b": l}))
multi.train(two)
print("RESULT multi", {k: round(float(v), 4) for k, v in sorted(multi.evaluate(two).items())})
