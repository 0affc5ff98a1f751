"""The entry point of a job of the cloud: python -m trainer.task --job-dir ..."""
import argparse
import json
import os
import random

import tensorflow as tf
from tensorflow.contrib.training.python.training import hparam

from . import model
import trainer.model as model_too


def get_args():
  args_parser = argparse.ArgumentParser()
  args_parser.add_argument('--train-files', nargs='+', required=True)
  args_parser.add_argument('--eval-files', nargs='+', required=True)
  args_parser.add_argument('--job-dir', help='GCS location to write checkpoints', required=True)
  args_parser.add_argument('--train-steps', type=int, default=100)
  args_parser.add_argument('--eval-steps', type=int, default=None)
  args_parser.add_argument('--first-layer-size', type=int, default=16)
  args_parser.add_argument('--num-layers', type=int, default=2)
  args_parser.add_argument('--scale-factor', type=float, default=0.5)
  args_parser.add_argument('--export-format', choices=['JSON', 'CSV'], default='JSON')
  args_parser.add_argument('--verbosity', default='WARN', choices=['DEBUG', 'INFO', 'WARN'])
  return args_parser.parse_args()


def run_experiment(hparams):
  """Train and evaluate the model for each train step."""
  train_input = model.read_dataset(hparams.train_files[0], tf.estimator.ModeKeys.TRAIN)
  eval_input = model.read_dataset(hparams.eval_files[0], tf.estimator.ModeKeys.EVAL)
  train_spec = tf.estimator.TrainSpec(train_input, max_steps=hparams.train_steps)
  exporter = tf.estimator.FinalExporter(
      'house', model.SERVING_FUNCTIONS[hparams.export_format])
  eval_spec = tf.estimator.EvalSpec(
      eval_input, steps=hparams.eval_steps, exporters=[exporter], name='house-eval')
  run_config = tf.estimator.RunConfig(
      session_config=_get_session_config_from_env_var(), tf_random_seed=4)
  run_config = run_config.replace(model_dir=hparams.job_dir)
  print('Model dir %s' % os.path.basename(run_config.model_dir), run_config.task_type)
  estimator = model.build_estimator(
      config=run_config,
      hidden_units=[
          max(2, int(hparams.first_layer_size * hparams.scale_factor ** i))
          for i in range(hparams.num_layers)])
  tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
  return estimator, eval_input


def _get_session_config_from_env_var():
  """Returns a tf.ConfigProto instance that has appropriate device_filters set."""
  tf_config = json.loads(os.environ.get('TF_CONFIG', '{}'))
  if (tf_config and 'task' in tf_config and 'type' in tf_config['task'] and
      'index' in tf_config['task']):
    if tf_config['task']['type'] == 'master':
      return tf.ConfigProto(device_filters=['/job:ps', '/job:master'])
  return None


def write(path, count, seed):
  rng = random.Random(seed)
  with tf.gfile.Open(path, 'w') as f:
    for i in range(count):
      size, rooms, town = rng.random(), rng.randint(1, 4), rng.choice(model.TOWNS)
      price = 2 * size + rooms + (town == 'north') * 1.5
      f.write('%f,%f,%d,%s,%d\n' % (price, size, rooms, town, i))


if __name__ == '__main__':
  args = get_args()
  tf.logging.set_verbosity(args.verbosity)
  os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
  assert model is model_too
  tf.gfile.MakeDirs(args.job_dir)
  write(args.train_files[0], 200, 0)
  write(args.eval_files[0], 64, 1)
  hparams = hparam.HParams(**args.__dict__)
  estimator, eval_input = run_experiment(hparams)
  result = estimator.evaluate(eval_input)
  assert result['rmse'] < 0.6, result
  base = os.path.join(args.job_dir, 'export', 'house')
  predict = tf.contrib.predictor.from_saved_model(
      os.path.join(base, tf.gfile.ListDirectory(base)[0]), signature_def_key='predict')
  if args.export_format == 'JSON':
    out = predict({'size': [0.5], 'rooms': [3], 'town': ['north']})
  else:
    out = predict({'csv_row': ['0.0,0.5,3,north,k']})
  assert abs(out['predictions'][0][0] - 5.5) < 1, out
  print('predicted', sorted(out))
