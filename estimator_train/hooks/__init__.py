"""Session-run hooks that are this package's own."""

from estimator_train.hooks.backup import BackupAndRestore
from estimator_train.hooks.profile import ProfileHook
from estimator_train.hooks.progress import ProgressHook
from estimator_train.hooks.step_breakdown import StepBreakdown
from estimator_train.hooks.time_history import TimeHistory
from estimator_train.keras.callbacks.keras_callbacks import KerasCallbacks

__all__ = [
    "BackupAndRestore",
    "KerasCallbacks",
    "ProfileHook",
    "ProgressHook",
    "StepBreakdown",
    "TimeHistory",
]
