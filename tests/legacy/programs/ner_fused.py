"""A tagger of names: vocabulary files, fused LSTM cells, a CRF, early stopping by F1."""
import functools
import json
import logging
import os
from pathlib import Path
import sys

import numpy as np
import tensorflow as tf

DATADIR = os.path.join(os.environ['WORK_DIR'], 'data')
Path(DATADIR).mkdir(parents=True)
tf.logging.set_verbosity(logging.ERROR)
logging.getLogger('tensorflow').handlers = [logging.StreamHandler(sys.stdout)]

WORDS = ['John', 'lives', 'in', 'New', 'York', 'EU', 'rejects', 'call', 'Mary', 'the']
TAGS = {'John': 'B-PER', 'Mary': 'B-PER', 'New': 'B-LOC', 'York': 'I-LOC', 'EU': 'B-ORG'}


def write_files():
    rng = np.random.RandomState(0)
    for name, count in (('train', 90), ('testa', 30)):
        sentences = [rng.choice(WORDS, rng.randint(3, 7)) for _ in range(count)]
        with Path(DATADIR, '%s.words.txt' % name).open('w') as w:
            w.write('\n'.join(' '.join(s) for s in sentences))
        with Path(DATADIR, '%s.tags.txt' % name).open('w') as t:
            t.write('\n'.join(' '.join(TAGS.get(x, 'O') for x in s) for s in sentences))
    Path(DATADIR, 'vocab.words.txt').write_text('\n'.join(WORDS[:-1]) + '\n')
    Path(DATADIR, 'vocab.tags.txt').write_text('\n'.join(['O'] + sorted(set(TAGS.values()))) + '\n')


def parse_fn(line_words, line_tags):
    # Encode in Bytes for TF
    words = [w.encode() for w in line_words.strip().split()]
    tags = [t.encode() for t in line_tags.strip().split()]
    assert len(words) == len(tags), "Words and tags lengths don't match"
    return (words, len(words)), tags


def generator_fn(words, tags):
    with Path(words).open('r') as f_words, Path(tags).open('r') as f_tags:
        for line_words, line_tags in zip(f_words, f_tags):
            yield parse_fn(line_words, line_tags)


def input_fn(words, tags, params=None, shuffle_and_repeat=False):
    params = params if params is not None else {}
    shapes = (([None], ()), [None])
    types = ((tf.string, tf.int32), tf.string)
    defaults = (('<pad>', 0), 'O')
    dataset = tf.data.Dataset.from_generator(
        functools.partial(generator_fn, words, tags), output_shapes=shapes, output_types=types)
    if shuffle_and_repeat:
        dataset = dataset.shuffle(params['buffer']).repeat(params['epochs'])
    dataset = dataset.padded_batch(params.get('batch_size', 20), shapes, defaults).prefetch(1)
    return dataset


def model_fn(features, labels, mode, params):
    if isinstance(features, dict):
        features = features['words'], features['nwords']

    # Read vocabs and inputs
    dropout = params['dropout']
    words, nwords = features
    training = (mode == tf.estimator.ModeKeys.TRAIN)
    vocab_words = tf.contrib.lookup.index_table_from_file(
        params['words'], num_oov_buckets=params['num_oov_buckets'])
    with Path(params['tags']).open() as f:
        indices = [idx for idx, tag in enumerate(f) if tag.strip() != 'O']
        num_tags = len(indices) + 1

    # Word Embeddings
    word_ids = vocab_words.lookup(words)
    variable = tf.get_variable('vectors', [len(WORDS) + 1, params['dim']])
    embeddings = tf.nn.embedding_lookup(variable, word_ids)
    embeddings = tf.layers.dropout(embeddings, rate=dropout, training=training)

    # LSTM
    t = tf.transpose(embeddings, perm=[1, 0, 2])
    lstm_cell_fw = tf.contrib.rnn.LSTMBlockFusedCell(params['lstm_size'])
    lstm_cell_bw = tf.contrib.rnn.LSTMBlockFusedCell(params['lstm_size'])
    lstm_cell_bw = tf.contrib.rnn.TimeReversedFusedRNN(lstm_cell_bw)
    with tf.variable_scope('fw'):
        output_fw, _ = lstm_cell_fw(t, dtype=tf.float32, sequence_length=nwords)
    with tf.variable_scope('bw'):
        output_bw, _ = lstm_cell_bw(t, dtype=tf.float32, sequence_length=nwords)
    output = tf.concat([output_fw, output_bw], axis=-1)
    output = tf.transpose(output, perm=[1, 0, 2])
    output = tf.layers.dropout(output, rate=dropout, training=training)

    # CRF
    logits = tf.layers.dense(output, num_tags)
    crf_params = tf.get_variable("crf", [num_tags, num_tags], dtype=tf.float32)
    pred_ids, _ = tf.contrib.crf.crf_decode(logits, crf_params, nwords)

    if mode == tf.estimator.ModeKeys.PREDICT:
        reverse_vocab_tags = tf.contrib.lookup.index_to_string_table_from_file(params['tags'])
        pred_strings = reverse_vocab_tags.lookup(tf.to_int64(pred_ids))
        predictions = {'pred_ids': pred_ids, 'tags': pred_strings}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    # Loss
    vocab_tags = tf.contrib.lookup.index_table_from_file(params['tags'])
    tags = vocab_tags.lookup(labels)
    log_likelihood, _ = tf.contrib.crf.crf_log_likelihood(logits, tags, nwords, crf_params)
    loss = tf.reduce_mean(-log_likelihood)

    # Metrics
    weights = tf.sequence_mask(nwords)
    named = tf.not_equal(tags, 0)
    metrics = {
        'acc': tf.metrics.accuracy(tags, pred_ids, weights),
        'precision': tf.metrics.precision(named, tf.not_equal(pred_ids, 0), weights),
        'f1': tf.contrib.metrics.f1_score(named, tf.to_float(tf.not_equal(pred_ids, 0)), weights),
    }
    for metric_name, op in metrics.items():
        tf.summary.scalar(metric_name, op[1])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(
        loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


if __name__ == '__main__':
    write_files()
    params = {
        'dim': 12, 'dropout': 0.1, 'num_oov_buckets': 1, 'epochs': 40, 'batch_size': 15,
        'buffer': 90, 'lstm_size': 12,
        'words': str(Path(DATADIR, 'vocab.words.txt')), 'tags': str(Path(DATADIR, 'vocab.tags.txt')),
    }
    with Path(DATADIR, 'params.json').open('w') as f:
        json.dump(params, f, indent=4, sort_keys=True)

    def fwords(name):
        return str(Path(DATADIR, '{}.words.txt'.format(name)))

    def ftags(name):
        return str(Path(DATADIR, '{}.tags.txt'.format(name)))

    train_inpf = functools.partial(input_fn, fwords('train'), ftags('train'), params,
                                   shuffle_and_repeat=True)
    eval_inpf = functools.partial(input_fn, fwords('testa'), ftags('testa'))
    cfg = tf.estimator.RunConfig(save_checkpoints_steps=30)
    estimator = tf.estimator.Estimator(model_fn, os.path.join(DATADIR, 'model'), cfg, params)
    Path(estimator.eval_dir()).mkdir(parents=True, exist_ok=True)
    hook = tf.contrib.estimator.stop_if_no_increase_hook(
        estimator, 'f1', max_steps_without_increase=60, min_steps=60, run_every_secs=None,
        run_every_steps=30)
    train_spec = tf.estimator.TrainSpec(input_fn=train_inpf, hooks=[hook])
    eval_spec = tf.estimator.EvalSpec(input_fn=eval_inpf, throttle_secs=0)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    result = estimator.evaluate(eval_inpf)
    step = result['global_step']
    print('f1', result['f1'] > 0.9, 'stopped early', bool(60 <= step < 240))
    assert result['f1'] > 0.9 and result['acc'] > 0.9, result
    assert 60 <= step < 240
    names = [n for n in estimator.get_variable_names() if 'Adam' not in n and 'lstm' in n]
    print(sorted(names))

    # Write predictions to file
    preds_gen = estimator.predict(eval_inpf)
    lines = 0
    for golds, preds in zip(generator_fn(fwords('testa'), ftags('testa')), preds_gen):
        ((words, _), tags) = golds
        for word, tag, tag_pred in zip(words, tags, preds['tags']):
            assert tag_pred in (b'O', b'B-PER', b'B-LOC', b'I-LOC', b'B-ORG')
            lines += 1
    print('tagged', lines > 80)
