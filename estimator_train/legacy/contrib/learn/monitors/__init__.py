"""Stand-in for `tf.contrib.learn.monitors`: the predecessors of hooks."""

import tensorflow as tf

from estimator_train.legacy.contrib.learn.monitors.adapter import (
    RunHookAdapterForMonitors,
    replace_monitors_with_hooks,
)
from estimator_train.legacy.contrib.learn.monitors.base import BaseMonitor, EveryN
from estimator_train.legacy.contrib.learn.monitors.common import (
    CaptureVariable,
    LoggingTrainable,
    NanLoss,
    PrintTensor,
    StopAtStep,
)
from estimator_train.legacy.contrib.learn.monitors.validation import ValidationMonitor

NanLossDuringTrainingError = tf.compat.v1.train.NanLossDuringTrainingError
__all__ = [
    "BaseMonitor",
    "CaptureVariable",
    "EveryN",
    "LoggingTrainable",
    "NanLoss",
    "NanLossDuringTrainingError",
    "PrintTensor",
    "RunHookAdapterForMonitors",
    "StopAtStep",
    "ValidationMonitor",
    "replace_monitors_with_hooks",
]
