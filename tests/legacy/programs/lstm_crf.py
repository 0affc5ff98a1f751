# A tagger: words from a generator, a bidirectional LSTM, a CRF; an early stop and train_and_evaluate.
import functools
import os

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
TAGS, WORDS = 3, 12


def generator_fn(seed):
    rng = np.random.RandomState(seed)
    for _ in range(60):
        length = rng.randint(3, 8)
        words = rng.randint(1, WORDS, length)
        # A tag depends on the word and on the word before it.
        tags = (words + np.concatenate([[0], words[:-1] % 2])) % TAGS
        yield (words.tolist(), length), tags.tolist()


def input_fn(seed, params=None, shuffle_and_repeat=False):
    shapes = (([None], ()), [None])
    types = ((tf.int32, tf.int32), tf.int32)
    dataset = tf.data.Dataset.from_generator(
        functools.partial(generator_fn, seed), output_shapes=shapes, output_types=types
    )
    if shuffle_and_repeat:
        dataset = dataset.shuffle(60, seed=1).repeat(params["epochs"])
    return dataset.padded_batch(params["batch_size"], shapes, ((0, 0), 0)).prefetch(1)


def model_fn(features, labels, mode, params):
    if isinstance(features, dict):
        features = features["words"], features["nwords"]
    words, nwords = features
    training = mode == tf.estimator.ModeKeys.TRAIN
    embeddings = tf.contrib.layers.embed_sequence(words, WORDS, 16)
    embeddings = tf.layers.dropout(embeddings, 0.1, training=training)
    cell_fw = tf.contrib.rnn.BasicLSTMCell(params["lstm_size"])
    cell_bw = tf.contrib.rnn.BasicLSTMCell(params["lstm_size"])
    (fw, bw), _ = tf.nn.bidirectional_dynamic_rnn(
        cell_fw, cell_bw, embeddings, sequence_length=nwords, dtype=tf.float32
    )
    logits = tf.layers.dense(tf.concat([fw, bw], axis=-1), TAGS)
    crf_params = tf.get_variable("crf", [TAGS, TAGS], dtype=tf.float32)
    pred_ids, _ = tf.contrib.crf.crf_decode(logits, crf_params, nwords)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"tags": pred_ids})
    log_likelihood, _ = tf.contrib.crf.crf_log_likelihood(logits, labels, nwords, crf_params)
    loss = tf.reduce_mean(-log_likelihood)
    weights = tf.sequence_mask(nwords)
    metrics = {"acc": tf.metrics.accuracy(labels, pred_ids, weights)}
    for name, op in metrics.items():
        tf.summary.scalar(name, op[1])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(
        loss, global_step=tf.train.get_or_create_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


params = {"epochs": 30, "batch_size": 20, "lstm_size": 12}
model_dir = os.environ["WORK_DIR"]
cfg = tf.estimator.RunConfig(save_checkpoints_secs=120, tf_random_seed=1)
estimator = tf.estimator.Estimator(model_fn, model_dir, cfg, params)
hook = tf.contrib.estimator.stop_if_no_increase_hook(
    estimator, "acc", 500, min_steps=8000, run_every_secs=120
)
train_spec = tf.estimator.TrainSpec(
    input_fn=functools.partial(input_fn, 0, params, shuffle_and_repeat=True), hooks=[hook]
)
eval_inpf = functools.partial(input_fn, 1, params)
eval_spec = tf.estimator.EvalSpec(input_fn=eval_inpf, throttle_secs=120)
result, _ = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
print("RESULT", result)
score = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
print(tf.contrib.crf.viterbi_decode(score, np.zeros([3, 3])))


def serving_input_receiver_fn():
    words = tf.placeholder(dtype=tf.int32, shape=[None, None], name="words")
    nwords = tf.placeholder(dtype=tf.int32, shape=[None], name="nwords")
    receiver_tensors = {"words": words, "nwords": nwords}
    return tf.estimator.export.ServingInputReceiver(receiver_tensors, receiver_tensors)


path = estimator.export_savedmodel(os.path.join(model_dir, "saved"), serving_input_receiver_fn)
predict_fn = tf.contrib.predictor.from_saved_model(path.decode())
print("served", predict_fn({"words": [[2, 3, 4]], "nwords": [3]})["tags"].shape)
