"""Session-run hooks that tf.estimator does not have.

The hooks of every training are in `engine/run/standard_hooks.py`; `engine/types.py` has the
order in which hooks run.

`KerasCallbacks` is imported when it is first used, because Keras takes seconds to import.
"""

from typing import TYPE_CHECKING, Any

from estimator_train.hooks.backup import BackupAndRestore
from estimator_train.hooks.progress import ProgressHook
from estimator_train.hooks.step_breakdown import StepBreakdown
from estimator_train.hooks.step_times import ProfileHook, TimeHistory

if TYPE_CHECKING:
    from estimator_train.keras.keras_callbacks import KerasCallbacks

__all__ = [
    "BackupAndRestore",
    "KerasCallbacks",
    "ProfileHook",
    "ProgressHook",
    "StepBreakdown",
    "TimeHistory",
]


def __getattr__(name: str) -> Any:
    if name == "KerasCallbacks":
        from estimator_train.keras.keras_callbacks import KerasCallbacks

        return KerasCallbacks
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
