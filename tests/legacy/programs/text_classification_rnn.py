"""Text classification with recurrent networks and bags of words, with its own vocabulary."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib.layers.python.layers import encoders

learn = tf.contrib.learn

FLAGS = None

MAX_DOCUMENT_LENGTH = 8
EMBEDDING_SIZE = 12
n_words = 0
MAX_LABEL = 3
WORDS_FEATURE = 'words'  # Name of the input words feature.


def estimator_spec_for_softmax_classification(logits, labels, mode):
  """Returns EstimatorSpec instance for softmax classification."""
  predicted_classes = tf.argmax(logits, 1)
  if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(
        mode=mode,
        predictions={
            'class': predicted_classes,
            'prob': tf.nn.softmax(logits)
        })

  onehot_labels = tf.one_hot(labels, MAX_LABEL, 1, 0)
  loss = tf.losses.softmax_cross_entropy(onehot_labels=onehot_labels, logits=logits)
  if mode == tf.estimator.ModeKeys.TRAIN:
    optimizer = tf.train.AdamOptimizer(learning_rate=0.02)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

  eval_metric_ops = {
      'accuracy': tf.metrics.accuracy(labels=labels, predictions=predicted_classes)
  }
  return tf.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops=eval_metric_ops)


def bag_of_words_model(features, labels, mode):
  """A bag-of-words model. Note it disregards the word order in the text."""
  bow_column = tf.feature_column.categorical_column_with_identity(
      WORDS_FEATURE, num_buckets=n_words)
  bow_embedding_column = tf.feature_column.embedding_column(
      bow_column, dimension=EMBEDDING_SIZE)
  bow = tf.feature_column.input_layer(features, feature_columns=[bow_embedding_column])
  logits = tf.layers.dense(bow, MAX_LABEL, activation=None)
  return estimator_spec_for_softmax_classification(logits=logits, labels=labels, mode=mode)


def rnn_model(features, labels, mode):
  """RNN model to predict from sequence of words to a class."""
  word_vectors = tf.contrib.layers.embed_sequence(
      features[WORDS_FEATURE], vocab_size=n_words, embed_dim=EMBEDDING_SIZE)
  # Split into list of embedding per word, while removing doc length dim.
  word_list = tf.unstack(word_vectors, axis=1)
  cell = tf.nn.rnn_cell.GRUCell(EMBEDDING_SIZE)
  _, encoding = tf.nn.static_rnn(cell, word_list, dtype=tf.float32)
  logits = tf.layers.dense(encoding, MAX_LABEL, activation=None)
  return estimator_spec_for_softmax_classification(logits=logits, labels=labels, mode=mode)


def encoder_model(features, labels, mode):
  """The same with an encoder of contrib.layers, and cells of contrib.rnn in two layers."""
  bag = encoders.bow_encoder(features[WORDS_FEATURE], n_words, EMBEDDING_SIZE, scope='bow')
  vectors = tf.contrib.layers.embed_sequence(
      features[WORDS_FEATURE], n_words, EMBEDDING_SIZE, scope='words')
  cells = [tf.contrib.rnn.DropoutWrapper(tf.contrib.rnn.LSTMCell(8), output_keep_prob=0.9)
           for _ in range(2)]
  outputs, _ = tf.nn.dynamic_rnn(
      tf.contrib.rnn.MultiRNNCell(cells), vectors, dtype=tf.float32,
      sequence_length=tf.reduce_sum(tf.to_int32(features[WORDS_FEATURE] > 0), 1))
  net = tf.concat([bag, tf.reduce_max(outputs, 1)], axis=1)
  logits = tf.contrib.layers.fully_connected(net, MAX_LABEL, activation_fn=None)
  return estimator_spec_for_softmax_classification(logits=logits, labels=labels, mode=mode)


def texts(count, seed):
  rng = np.random.RandomState(seed)
  subjects = [['goal', 'match', "team's"], ['stock', 'market', 'shares'], ['atom', 'cell', 'star']]
  labels = rng.randint(0, MAX_LABEL, count)
  lines = [' '.join(rng.choice(['the', 'a', 'of', 'New'] + subjects[k] * 2, rng.randint(6, 11)))
           for k in labels]
  return lines, labels.astype(np.int64)


def main(unused_argv):
  global n_words
  tf.logging.set_verbosity(tf.logging.ERROR)
  x_train, y_train = texts(128, 0)
  x_test, y_test = texts(48, 1)

  # Process vocabulary
  vocab_processor = learn.preprocessing.VocabularyProcessor(MAX_DOCUMENT_LENGTH, min_frequency=1)
  x_transform_train = vocab_processor.fit_transform(x_train)
  x_transform_test = vocab_processor.transform(x_test)
  x_train = np.array(list(x_transform_train))
  x_test = np.array(list(x_transform_test))

  n_words = len(vocab_processor.vocabulary_)
  print('Total words: %d' % n_words)
  assert x_train.shape == (128, MAX_DOCUMENT_LENGTH) and x_train.max() == n_words - 1
  path = os.path.join(FLAGS.model_dir, 'vocab')
  tf.gfile.MakeDirs(FLAGS.model_dir)
  vocab_processor.save(path)
  again = learn.preprocessing.VocabularyProcessor.restore(path)
  assert list(again.reverse(again.transform(["the team's never"])))[0].startswith("the team's <UNK>")

  models = {'bow': bag_of_words_model, 'rnn': rnn_model, 'encoder': encoder_model}
  for name, model_fn in sorted(models.items()):
    classifier = tf.estimator.Estimator(
        model_fn=model_fn, model_dir=os.path.join(FLAGS.model_dir, name))
    train_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={WORDS_FEATURE: x_train}, y=y_train, batch_size=len(x_train), num_epochs=None,
        shuffle=True)
    classifier.train(input_fn=train_input_fn, steps=40)
    test_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={WORDS_FEATURE: x_test}, y=y_test, num_epochs=1, shuffle=False)
    predictions = classifier.predict(input_fn=test_input_fn)
    y_predicted = np.array(list(p['class'] for p in predictions))
    y_predicted = y_predicted.reshape(np.array(y_test).shape)
    score = np.mean(y_predicted == y_test)
    scores = classifier.evaluate(input_fn=test_input_fn)
    assert abs(scores['accuracy'] - score) < 1e-6 and score > 0.9, (name, scores, score)
    print('Accuracy (%s): %.2f' % (name, score))


if __name__ == '__main__':
  parser = argparse.ArgumentParser()
  parser.add_argument('--model_dir', default=os.environ.get('WORK_DIR'))
  FLAGS, unparsed = parser.parse_known_args()
  tf.app.run(main=main, argv=[sys.argv[0]] + unparsed)
