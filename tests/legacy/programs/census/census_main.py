"""Train DNN on census income dataset."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import os

from absl import app as absl_app
from absl import flags
import tensorflow as tf

from flags import define_wide_deep_flags
import estimator_train
from estimator_train import run_loop
import input_fns
from tests.fixtures import write_census


def build_estimator(model_dir, model_type, model_column_fn):
  """Build an estimator appropriate for the given model type."""
  wide_columns, deep_columns = model_column_fn()
  hidden_units = [20, 10]
  run_config = tf.estimator.RunConfig(tf_random_seed=3).replace(
      session_config=tf.ConfigProto(device_count={'GPU': 0}))
  if model_type == 'wide':
    return tf.estimator.LinearClassifier(
        model_dir=model_dir, feature_columns=wide_columns, config=run_config)
  elif model_type == 'deep':
    return tf.estimator.DNNClassifier(
        model_dir=model_dir, feature_columns=deep_columns, hidden_units=hidden_units,
        config=run_config)
  else:
    return tf.estimator.DNNLinearCombinedClassifier(
        model_dir=model_dir, linear_feature_columns=wide_columns,
        dnn_feature_columns=deep_columns, dnn_hidden_units=hidden_units, config=run_config)


def run_census(flags_obj):
  train_file = os.path.join(flags_obj.data_dir, 'adult.data')
  test_file = os.path.join(flags_obj.data_dir, 'adult.test')
  tf.gfile.MakeDirs(flags_obj.data_dir)
  write_census(train_file, 300, seed=0)
  write_census(test_file, 100, seed=1)

  def train_input_fn():
    return input_fns.input_fn(
        train_file, flags_obj.epochs_between_evals, True, flags_obj.batch_size)

  def eval_input_fn():
    return input_fns.input_fn(test_file, 1, False, flags_obj.batch_size)

  return run_loop(
      name="Census Income", train_input_fn=train_input_fn, eval_input_fn=eval_input_fn,
      model_column_fn=input_fns.build_model_columns, build_estimator_fn=build_estimator,
      flags_obj=flags_obj)


def main(_):
  results = run_census(flags.FLAGS)
  print(estimator_train.__file__.split(os.sep)[-2:], flags.FLAGS.model_type)
  print(sorted(results))
  assert results['accuracy'] > 0.9, results
  exported = os.path.join(flags.FLAGS.export_dir, tf.gfile.ListDirectory(flags.FLAGS.export_dir)[0])
  predict_fn = tf.contrib.predictor.from_saved_model(exported, signature_def_key='predict')
  example = tf.train.Example(features=tf.train.Features(feature={
      'age': tf.train.Feature(float_list=tf.train.FloatList(value=[50])),
      'education': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'Masters'])),
      'education_num': tf.train.Feature(float_list=tf.train.FloatList(value=[14])),
      'capital_gain': tf.train.Feature(float_list=tf.train.FloatList(value=[20])),
      'hours_per_week': tf.train.Feature(float_list=tf.train.FloatList(value=[40])),
      'workclass': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'Private'])),
      'occupation': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'Exec-managerial'])),
  }))
  prediction = predict_fn({'examples': [example.SerializeToString()]})
  print(prediction['classes'])
  assert prediction['classes'][0][0] == b'1' and prediction['probabilities'][0][1] > 0.8


if __name__ == '__main__':
  tf.logging.set_verbosity(tf.logging.INFO)
  define_wide_deep_flags()
  absl_app.run(main)
