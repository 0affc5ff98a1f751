"""The Estimator way of training, alive on today's TensorFlow: the names of `tf.estimator` (v2).

    import estimator_train as est

    estimator = est.Estimator(model_fn, model_dir="run", params={"learning_rate": 0.1})
    estimator.train(input_fn, steps=1000)
    print(estimator.evaluate(eval_input_fn))

`estimator_train.compat.v1` has the names and meanings of `tf.compat.v1.estimator`, and
`estimator_train.keras` turns tf_keras models into estimators.

A name is loaded when it is first used: importing this package does not yet import TensorFlow, so
that a command can answer `--help` at once and choose TensorFlow's settings before it starts.
"""

import pkgutil
from typing import TYPE_CHECKING, Any

from estimator_train.cluster import launched_exit_codes as _launched
from estimator_train.compat import import_hook as _import_hook

if TYPE_CHECKING:
    from estimator_train import experimental, export, hooks, keras, predictor
    from estimator_train.canned import (
        BaselineClassifier,
        BaselineEstimator,
        BaselineRegressor,
        DNNClassifier,
        DNNEstimator,
        DNNLinearCombinedClassifier,
        DNNLinearCombinedEstimator,
        DNNLinearCombinedRegressor,
        DNNRegressor,
        LinearClassifier,
        LinearEstimator,
        LinearRegressor,
        classifier_parse_example_spec,
        regressor_parse_example_spec,
    )
    from estimator_train.canned.boosted_trees import (
        BoostedTreesClassifier,
        BoostedTreesEstimator,
        BoostedTreesRegressor,
    )
    from estimator_train.engine.checkpoints.warm_start import VocabInfo, WarmStartSettings
    from estimator_train.estimator import EstimatorV2 as Estimator
    from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys
    from estimator_train.heads import (
        BinaryClassHead,
        Head,
        LogisticRegressionHead,
        MultiClassHead,
        MultiHead,
        MultiLabelHead,
        PoissonRegressionHead,
        RegressionHead,
    )
    from estimator_train.lifecycle.preemption import Preempted, Preemption
    from estimator_train.run_config import RunConfig
    from estimator_train.training.exporters import (
        BestExporter,
        Exporter,
        FinalExporter,
        LatestExporter,
    )
    from estimator_train.training.extenders import add_metrics
    from estimator_train.training.specs import EvalSpec, TrainSpec
    from estimator_train.training.train_and_evaluate import train_and_evaluate

__version__ = "0.1.0"

_SESSION_RUN_NAMES = (
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
)
_HEADS = (
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
)
_CANNED = (
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "classifier_parse_example_spec",
    "regressor_parse_example_spec",
)
_TREES = ("BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor")
_TRAINING_NAMES = {
    "BestExporter": "exporters",
    "EvalSpec": "specs",
    "Exporter": "exporters",
    "FinalExporter": "exporters",
    "LatestExporter": "exporters",
    "TrainSpec": "specs",
    "add_metrics": "extenders",
    "train_and_evaluate": "train_and_evaluate",
}
_HOMES = {
    "Estimator": "estimator_train.estimator:EstimatorV2",
    "EstimatorSpec": "estimator_train.estimator_spec.spec:EstimatorSpec",
    "ModeKeys": "estimator_train.estimator_spec.spec:ModeKeys",
    "RunConfig": "estimator_train.run_config:RunConfig",
    "VocabInfo": "estimator_train.engine.checkpoints.warm_start:VocabInfo",
    "WarmStartSettings": "estimator_train.engine.checkpoints.warm_start:WarmStartSettings",
    "experimental": "estimator_train.experimental:",
    "export": "estimator_train.export:",
    "hooks": "estimator_train.hooks:",
    "keras": "estimator_train.keras:",
    "Preempted": "estimator_train.lifecycle.preemption:Preempted",
    "Preemption": "estimator_train.lifecycle.preemption:Preemption",
    "predictor": "estimator_train.predictor:",
    **{name: f"tensorflow:compat.v1.train.{name}" for name in _SESSION_RUN_NAMES},
    **{name: f"estimator_train.canned:{name}" for name in _CANNED},
    **{name: f"estimator_train.canned.boosted_trees:{name}" for name in _TREES},
    **{name: f"estimator_train.heads:{name}" for name in _HEADS},
    **{
        name: f"estimator_train.training.{module}:{name}"
        for name, module in _TRAINING_NAMES.items()
    },
}

__all__ = [
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "BestExporter",
    "BinaryClassHead",
    "BoostedTreesClassifier",
    "BoostedTreesEstimator",
    "BoostedTreesRegressor",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FeedFnHook",
    "FinalExporter",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "Head",
    "LatestExporter",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LoggingTensorHook",
    "LogisticRegressionHead",
    "ModeKeys",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "PoissonRegressionHead",
    "Preempted",
    "Preemption",
    "ProfilerHook",
    "RegressionHead",
    "RunConfig",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "TrainSpec",
    "VocabInfo",
    "WarmStartSettings",
    "add_metrics",
    "classifier_parse_example_spec",
    "experimental",
    "export",
    "hooks",
    "keras",
    "predictor",
    "regressor_parse_example_spec",
    "train_and_evaluate",
]

# tf_keras.estimator.model_to_estimator works from here on.
_import_hook.install()
# Where `estimator-train launch` started this program, its mistakes end it by one line and code 2.
_launched.end_mistakes_with_code_2()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = pkgutil.resolve_name(_HOMES[name])
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
