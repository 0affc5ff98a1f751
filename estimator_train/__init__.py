"""Run tf.estimator code on TensorFlow 2.16 to 2.21: the names of `tf.estimator` (v2).

    import estimator_train as est

    estimator = est.Estimator(model_fn, model_dir="run", params={"learning_rate": 0.1})
    estimator.train(input_fn, steps=1000)
    print(estimator.evaluate(eval_input_fn))

`estimator_train.compat.v1` has the names and meanings of `tf.compat.v1.estimator`, and
`estimator_train.keras` turns Keras models into estimators.

A name is loaded when it is first used: importing this package does not yet import TensorFlow, so
that a command can answer `--help` at once and choose TensorFlow's settings before it starts.
"""

import pkgutil
import sys
from typing import TYPE_CHECKING, Any

from estimator_train import bootstrap as _bootstrap

if TYPE_CHECKING:  # For type checkers, to which `X as X` says that X is public.
    from estimator_train import (
        experimental as experimental,
        export as export,
        hooks as hooks,
        keras as keras,
        predictor as predictor,
    )
    from estimator_train.canned import (
        BaselineClassifier as BaselineClassifier,
        BaselineEstimator as BaselineEstimator,
        BaselineRegressor as BaselineRegressor,
        DNNClassifier as DNNClassifier,
        DNNEstimator as DNNEstimator,
        DNNLinearCombinedClassifier as DNNLinearCombinedClassifier,
        DNNLinearCombinedEstimator as DNNLinearCombinedEstimator,
        DNNLinearCombinedRegressor as DNNLinearCombinedRegressor,
        DNNRegressor as DNNRegressor,
        LinearClassifier as LinearClassifier,
        LinearEstimator as LinearEstimator,
        LinearRegressor as LinearRegressor,
        classifier_parse_example_spec as classifier_parse_example_spec,
        regressor_parse_example_spec as regressor_parse_example_spec,
    )
    from estimator_train.canned.boosted_trees import (
        BoostedTreesClassifier as BoostedTreesClassifier,
        BoostedTreesEstimator as BoostedTreesEstimator,
        BoostedTreesRegressor as BoostedTreesRegressor,
    )
    from estimator_train.engine.checkpoints.warm_start import (
        VocabInfo as VocabInfo,
        WarmStartSettings as WarmStartSettings,
    )
    from estimator_train.estimator import EstimatorV2 as Estimator  # noqa: F401
    from estimator_train.estimator_spec import (
        EstimatorSpec as EstimatorSpec,
        ModeKeys as ModeKeys,
    )
    from estimator_train.heads import (
        BinaryClassHead as BinaryClassHead,
        Head as Head,
        LogisticRegressionHead as LogisticRegressionHead,
        MultiClassHead as MultiClassHead,
        MultiHead as MultiHead,
        MultiLabelHead as MultiLabelHead,
        PoissonRegressionHead as PoissonRegressionHead,
        RegressionHead as RegressionHead,
    )
    from estimator_train.lifecycle.preemption import (
        Preempted as Preempted,
        Preemption as Preemption,
    )
    from estimator_train.run_config import RunConfig as RunConfig
    from estimator_train.training.exporters import (
        BestExporter as BestExporter,
        Exporter as Exporter,
        FinalExporter as FinalExporter,
        LatestExporter as LatestExporter,
    )
    from estimator_train.training.extenders import add_metrics as add_metrics
    from estimator_train.training.specs import EvalSpec as EvalSpec, TrainSpec as TrainSpec
    from estimator_train.training.train_and_evaluate import train_and_evaluate as train_and_evaluate

__version__ = "0.2.0"

_MODULES = ("experimental", "export", "hooks", "keras", "predictor")
# Where a name is found when it is first used, as `pkgutil.resolve_name` wants it; and which names.
_NAMES_OF = {
    "estimator_train.canned.boosted_trees:": (
        "BoostedTreesClassifier BoostedTreesEstimator BoostedTreesRegressor"
    ),
    "estimator_train.canned:": (
        "BaselineClassifier BaselineEstimator BaselineRegressor DNNClassifier DNNEstimator "
        "DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor "
        "DNNRegressor LinearClassifier LinearEstimator LinearRegressor "
        "classifier_parse_example_spec regressor_parse_example_spec"
    ),
    "estimator_train.engine.checkpoints.warm_start:": "VocabInfo WarmStartSettings",
    "estimator_train.estimator_spec:": "EstimatorSpec ModeKeys",
    "estimator_train.heads:": (
        "BinaryClassHead Head LogisticRegressionHead MultiClassHead MultiHead MultiLabelHead "
        "PoissonRegressionHead RegressionHead"
    ),
    "estimator_train.lifecycle.preemption:": "Preempted Preemption",
    "estimator_train.run_config:": "RunConfig",
    "estimator_train.training.exporters:": "BestExporter Exporter FinalExporter LatestExporter",
    "estimator_train.training.extenders:": "add_metrics",
    "estimator_train.training.specs:": "EvalSpec TrainSpec",
    "estimator_train.training.train_and_evaluate:": "train_and_evaluate",
    "tensorflow:compat.v1.train.": (
        "CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook "
        "GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError NanTensorHook "
        "ProfilerHook SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook "
        "SessionRunValues StepCounterHook StopAtStepHook SummarySaverHook"
    ),
}
_HOMES = {
    "Estimator": "estimator_train.estimator:EstimatorV2",
    **{name: f"estimator_train.{name}:" for name in _MODULES},
    **{name: home + name for home, names in _NAMES_OF.items() for name in names.split()},
}

__all__ = sorted(_HOMES)

_bootstrap.prepare_process()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = pkgutil.resolve_name(_HOMES[name])
    if isinstance(value, type):
        _bootstrap.import_tracked_modules(sys._getframe(1).f_globals.get("__name__", ""))
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
