"""Hooks by their names."""
import tensorflow as tf

_TENSORS_TO_LOG = dict((x, x) for x in ['average_loss', 'loss'])


def get_logging_tensor_hook(every_n_iter=100, tensors_to_log=None, **kwargs):
  if tensors_to_log is None:
    tensors_to_log = _TENSORS_TO_LOG
  return tf.train.LoggingTensorHook(tensors=tensors_to_log, every_n_iter=every_n_iter)


HOOKS = {'loggingtensorhook': get_logging_tensor_hook}


def get_train_hooks(name_list, **kwargs):
  hooks = []
  for name in name_list or []:
    hook_name = HOOKS.get(name.strip().lower())
    if hook_name is None:
      raise ValueError('Unrecognized training hook requested: {}'.format(name))
    hooks.append(hook_name(**kwargs))
  return hooks
