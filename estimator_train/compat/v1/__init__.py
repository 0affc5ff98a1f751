"""The names of `tf.compat.v1.estimator`, with their v1 meanings.

    import estimator_train.compat.v1 as tf_estimator

Names with the same meaning in v1 and v2 come from `estimator_train`.
"""

# `X as X` marks X as public for type checkers.
from estimator_train import (
    BestExporter as BestExporter,
    BinaryClassHead as BinaryClassHead,
    CheckpointSaverHook as CheckpointSaverHook,
    CheckpointSaverListener as CheckpointSaverListener,
    EstimatorSpec as EstimatorSpec,
    EvalSpec as EvalSpec,
    Exporter as Exporter,
    FeedFnHook as FeedFnHook,
    FinalExporter as FinalExporter,
    FinalOpsHook as FinalOpsHook,
    GlobalStepWaiterHook as GlobalStepWaiterHook,
    Head as Head,
    LatestExporter as LatestExporter,
    LoggingTensorHook as LoggingTensorHook,
    LogisticRegressionHead as LogisticRegressionHead,
    ModeKeys as ModeKeys,
    MultiClassHead as MultiClassHead,
    MultiHead as MultiHead,
    MultiLabelHead as MultiLabelHead,
    NanLossDuringTrainingError as NanLossDuringTrainingError,
    NanTensorHook as NanTensorHook,
    PoissonRegressionHead as PoissonRegressionHead,
    ProfilerHook as ProfilerHook,
    RegressionHead as RegressionHead,
    RunConfig as RunConfig,
    SecondOrStepTimer as SecondOrStepTimer,
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext,
    SessionRunHook as SessionRunHook,
    SessionRunValues as SessionRunValues,
    StepCounterHook as StepCounterHook,
    StopAtStepHook as StopAtStepHook,
    SummarySaverHook as SummarySaverHook,
    TrainSpec as TrainSpec,
    VocabInfo as VocabInfo,
    WarmStartSettings as WarmStartSettings,
    add_metrics as add_metrics,
    export as export,
    tpu as tpu,
    train_and_evaluate as train_and_evaluate,
)
from estimator_train.canned import (
    classifier_parse_example_spec as classifier_parse_example_spec,
    regressor_parse_example_spec as regressor_parse_example_spec,
)
from estimator_train.canned.boosted_trees import (
    BoostedTreesClassifier as BoostedTreesClassifier,
    BoostedTreesEstimator as BoostedTreesEstimator,
    BoostedTreesRegressor as BoostedTreesRegressor,
)
from estimator_train.canned.v1 import (
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
)
from estimator_train.compat.v1 import experimental as experimental, inputs as inputs, keras as keras
from estimator_train.estimator import Estimator as Estimator
