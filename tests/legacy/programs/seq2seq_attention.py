"""Sequence to sequence with attention: an estimator that learns to turn sequences round."""
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib import seq2seq
from tensorflow.python.layers.core import Dense

tf.logging.set_verbosity(tf.logging.ERROR)
WORK = os.environ['WORK_DIR']
VOCAB, START, END, UNITS, LENGTH = 9, 1, 2, 24, 3


def make(seed, count):
    rng = np.random.RandomState(seed)
    lengths = rng.randint(2, LENGTH + 1, count)
    source = np.zeros((count, LENGTH), np.int32)
    target = np.zeros((count, LENGTH + 1), np.int32)
    for row, n in enumerate(lengths):
        words = rng.randint(3, VOCAB, n)
        source[row, :n] = words
        target[row, :n + 1] = list(words[::-1]) + [END]
    return {'source': source, 'length': lengths.astype(np.int32)}, target


def input_fn(seed, count, repeat):
    d = tf.data.Dataset.from_tensor_slices(make(seed, count))
    return (d.shuffle(count, seed=1).repeat() if repeat else d).batch(64)


def seq2seq_model(features, labels, mode, params):
    source, lengths = features['source'], features['length']
    batch_size = tf.shape(source)[0]
    with tf.variable_scope('embed'):
        embeddings = tf.get_variable('embeddings', [VOCAB, 12])
    cell = tf.contrib.rnn.GRUCell(num_units=UNITS)
    encoder_outputs, encoder_final_state = tf.nn.dynamic_rnn(
        cell, tf.nn.embedding_lookup(embeddings, source), sequence_length=lengths,
        dtype=tf.float32, scope='encoder')
    beam_width = params.get('beam_width', 1) if mode == tf.estimator.ModeKeys.PREDICT else 1
    memory, memory_lengths, first = encoder_outputs, lengths, encoder_final_state
    if beam_width > 1:
        memory, memory_lengths, first = seq2seq.tile_batch(
            (memory, memory_lengths, first), multiplier=beam_width)

    attention_mechanism = getattr(seq2seq, params['attention'])(
        num_units=UNITS, memory=memory, memory_sequence_length=memory_lengths)
    decoder_cell = seq2seq.AttentionWrapper(
        tf.contrib.rnn.GRUCell(num_units=UNITS), attention_mechanism,
        attention_layer_size=UNITS, alignment_history=False, name='attention')
    projection = Dense(VOCAB, name='projection')
    state = decoder_cell.zero_state(batch_size * beam_width, tf.float32).clone(cell_state=first)
    start_tokens = tf.fill([batch_size], START)

    def decode(decoder):
        return seq2seq.dynamic_decode(
            decoder, output_time_major=False, impute_finished=beam_width == 1,
            maximum_iterations=LENGTH + 1)

    if beam_width > 1:
        outputs, _, _ = decode(seq2seq.BeamSearchDecoder(
            decoder_cell, embeddings, start_tokens, END, state, beam_width,
            output_layer=projection, length_penalty_weight=0.0))
        return tf.estimator.EstimatorSpec(mode, predictions={
            'beams': outputs.predicted_ids,
            'scores': tf.transpose(outputs.beam_search_decoder_output.scores, [0, 2, 1])})
    with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
        greedy, _, greedy_lengths = decode(seq2seq.BasicDecoder(
            decoder_cell, seq2seq.GreedyEmbeddingHelper(embeddings, start_tokens, END), state,
            output_layer=projection))
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(
                mode, predictions={'ids': greedy.sample_id, 'lengths': greedy_lengths})
        fed = tf.concat([tf.expand_dims(start_tokens, 1), labels[:, :-1]], 1)
        train, _, train_lengths = decode(seq2seq.BasicDecoder(
            decoder_cell,
            seq2seq.TrainingHelper(tf.nn.embedding_lookup(embeddings, fed), lengths + 1), state,
            output_layer=projection))
    weights = tf.sequence_mask(lengths + 1, tf.shape(train.rnn_output)[1], dtype=tf.float32)
    labels = labels[:, :tf.shape(train.rnn_output)[1]]
    loss = seq2seq.sequence_loss(train.rnn_output, labels, weights=weights)
    train_op = tf.contrib.layers.optimize_loss(
        loss, tf.train.get_global_step(), optimizer=params.get('optimizer', 'Adam'),
        learning_rate=0.02, clip_gradients=5.0,
        summaries=['loss', 'learning_rate', 'gradient_norm'])
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={
        'accuracy': tf.metrics.accuracy(labels, train.sample_id, weights),
        'same_length': tf.metrics.accuracy(train_lengths, lengths + 1)})


for attention, steps in (('LuongAttention', 150), ('BahdanauAttention', 20)):
    estimator = tf.estimator.Estimator(
        seq2seq_model, os.path.join(WORK, attention),
        params={'attention': attention}, config=tf.estimator.RunConfig(tf_random_seed=3))
    estimator.train(lambda: input_fn(0, 512, True), steps=steps)
    result = estimator.evaluate(lambda: input_fn(1, 64, False))
    print(attention, result['accuracy'] > 0.3, result['global_step'])
    assert result['same_length'] == 1.0
    assert result['accuracy'] > (0.6 if steps > 100 else 0.2), result
names = estimator.get_variable_names()
assert 'decoder/projection/kernel' in names, names

best = tf.estimator.Estimator(seq2seq_model, os.path.join(WORK, 'LuongAttention'),
                              params={'attention': 'LuongAttention', 'beam_width': 3})
features, targets = make(1, 64)
greedy = list(tf.estimator.Estimator(
    seq2seq_model, best.model_dir, params={'attention': 'LuongAttention'}).predict(
        lambda: input_fn(1, 64, False)))
beams = list(best.predict(lambda: input_fn(1, 64, False)))


def right(found, row):
    n = features['length'][row] + 1
    return len(found) >= n and list(found[:n]) == list(targets[row, :n])


by_greedy = np.mean([right(p['ids'], i) for i, p in enumerate(greedy)])
by_beams = np.mean([right(p['beams'][:, 0], i) for i, p in enumerate(beams)])
print('whole sequences: beams no worse than greedy', bool(by_beams >= by_greedy - 0.05))
assert beams[0]['beams'].shape[1] == 3
assert by_beams >= by_greedy - 0.05 and by_greedy > 0.2, (by_greedy, by_beams)
last = beams[0]['scores'][:, -1]
assert list(last) == sorted(last, reverse=True)
print('turned round')
