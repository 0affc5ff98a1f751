"""The experimental names of `tf.estimator`."""

from estimator_train.canned.rnn import RNNClassifier, RNNEstimator
from estimator_train.canned.sdca import LinearSDCA
from estimator_train.canned.specs import call_logit_fn
from estimator_train.export.receivers import build_raw_supervised_input_receiver_fn
from estimator_train.training.evaluations import InMemoryEvaluatorHook
from estimator_train.training.stopping_hooks import (
    make_early_stopping_hook,
    make_stop_at_checkpoint_step_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)

__all__ = [
    "InMemoryEvaluatorHook",
    "LinearSDCA",
    "RNNClassifier",
    "RNNEstimator",
    "build_raw_supervised_input_receiver_fn",
    "call_logit_fn",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]
