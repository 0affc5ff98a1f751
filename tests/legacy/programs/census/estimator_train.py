"""Trains and evaluates in turns, and exports. A name that somebody else took later."""
import shutil

import tensorflow as tf
from utils import hooks_helper


def past_stop_threshold(stop_threshold, eval_metric):
  if stop_threshold is None:
    return False
  return eval_metric >= stop_threshold


def export_model(model, model_type, export_dir, model_column_fn):
  """Export to SavedModel format."""
  wide_columns, deep_columns = model_column_fn()
  if model_type == 'wide':
    columns = wide_columns
  elif model_type == 'deep':
    columns = deep_columns
  else:
    columns = wide_columns + deep_columns
  feature_spec = tf.feature_column.make_parse_example_spec(columns)
  example_input_fn = (
      tf.estimator.export.build_parsing_serving_input_receiver_fn(feature_spec))
  return model.export_savedmodel(export_dir, example_input_fn)


def run_loop(name, train_input_fn, eval_input_fn, model_column_fn, build_estimator_fn, flags_obj):
  if flags_obj.clean:
    shutil.rmtree(flags_obj.model_dir, ignore_errors=True)
  model = build_estimator_fn(
      model_dir=flags_obj.model_dir, model_type=flags_obj.model_type,
      model_column_fn=model_column_fn)
  loss_prefix = {'wide': 'linear/', 'deep': 'dnn/'}.get(flags_obj.model_type, '')
  train_hooks = hooks_helper.get_train_hooks(
      flags_obj.hooks, tensors_to_log={'average_loss': loss_prefix + 'head/truediv',
                                       'loss': loss_prefix + 'head/weighted_loss/Sum'})
  results = None
  for n in range(flags_obj.train_epochs // flags_obj.epochs_between_evals):
    model.train(input_fn=train_input_fn, hooks=train_hooks)
    results = model.evaluate(input_fn=eval_input_fn)

    # Display evaluation metrics
    tf.logging.info('Results at epoch %d / %d', (n + 1) * flags_obj.epochs_between_evals,
                    flags_obj.train_epochs)
    tf.logging.info('-' * 60)
    for key in sorted(results):
      tf.logging.info('%s: %s' % (key, results[key]))
    if past_stop_threshold(flags_obj.stop_threshold, results['accuracy']):
      print('stopped after', (n + 1) * flags_obj.epochs_between_evals)
      break
  if flags_obj.export_dir is not None:
    export_model(model, flags_obj.model_type, flags_obj.export_dir, model_column_fn)
  return results
