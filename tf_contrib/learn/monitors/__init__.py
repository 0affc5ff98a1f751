"""Stand-in for `tf.contrib.learn.monitors`: the predecessors of hooks."""

import tensorflow as tf

from tf_contrib.learn.monitors.adapter import (
    RunHookAdapterForMonitors,
    replace_monitors_with_hooks,
)
from tf_contrib.learn.monitors.base import BaseMonitor, EveryN
from tf_contrib.learn.monitors.common import (
    CaptureVariable,
    LoggingTrainable,
    NanLoss,
    PrintTensor,
    StopAtStep,
)
from tf_contrib.learn.monitors.validation import ValidationMonitor

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
