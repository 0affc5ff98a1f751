"""The Estimator way of training, alive on today's TensorFlow: the names of `tf.estimator` (v2).

    import estimator_train as est

    estimator = est.Estimator(model_fn, model_dir="run", params={"learning_rate": 0.1})
    estimator.train(input_fn, steps=1000)
    print(estimator.evaluate(eval_input_fn))

`estimator_train.compat.v1` has the names and meanings of `tf.compat.v1.estimator`, and
`estimator_train.keras` turns tf_keras models into estimators.
"""

import tensorflow as _tf

from estimator_train import export
from estimator_train.engine.warm_start import VocabInfo, WarmStartSettings
from estimator_train.estimator import EstimatorV2 as Estimator
from estimator_train.run_config import RunConfig
from estimator_train.spec import EstimatorSpec, ModeKeys

CheckpointSaverHook = _tf.compat.v1.train.CheckpointSaverHook
CheckpointSaverListener = _tf.compat.v1.train.CheckpointSaverListener
FeedFnHook = _tf.compat.v1.train.FeedFnHook
FinalOpsHook = _tf.compat.v1.train.FinalOpsHook
GlobalStepWaiterHook = _tf.compat.v1.train.GlobalStepWaiterHook
LoggingTensorHook = _tf.compat.v1.train.LoggingTensorHook
NanLossDuringTrainingError = _tf.compat.v1.train.NanLossDuringTrainingError
NanTensorHook = _tf.compat.v1.train.NanTensorHook
ProfilerHook = _tf.compat.v1.train.ProfilerHook
SecondOrStepTimer = _tf.compat.v1.train.SecondOrStepTimer
SessionRunArgs = _tf.compat.v1.train.SessionRunArgs
SessionRunContext = _tf.compat.v1.train.SessionRunContext
SessionRunHook = _tf.compat.v1.train.SessionRunHook
SessionRunValues = _tf.compat.v1.train.SessionRunValues
StepCounterHook = _tf.compat.v1.train.StepCounterHook
StopAtStepHook = _tf.compat.v1.train.StopAtStepHook
SummarySaverHook = _tf.compat.v1.train.SummarySaverHook

__version__ = "0.1.0"

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
]
