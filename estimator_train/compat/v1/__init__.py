"""The names of `tf.compat.v1.estimator`, with their v1 meanings.

    import estimator_train.compat.v1 as tf_estimator

Names that mean the same in v1 and v2 are `estimator_train`'s own.
"""

from estimator_train import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    EstimatorSpec,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    ModeKeys,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    RunConfig,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
    VocabInfo,
    WarmStartSettings,
    export,
)
from estimator_train.compat.v1 import keras
from estimator_train.estimator import Estimator

__all__ = [
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "Estimator",
    "EstimatorSpec",
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "ModeKeys",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
    "RunConfig",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "VocabInfo",
    "WarmStartSettings",
    "export",
    "keras",
]
