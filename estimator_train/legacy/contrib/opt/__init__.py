"""Stand-in for `tf.contrib.opt`: further optimizers."""

from estimator_train.legacy.contrib.opt.elastic_average import (
    ElasticAverageCustomGetter,
    ElasticAverageOptimizer,
)
from estimator_train.legacy.contrib.opt.external import (
    ExternalOptimizerInterface,
    ScipyOptimizerInterface,
)
from estimator_train.legacy.contrib.opt.model_average import (
    ModelAverageCustomGetter,
    ModelAverageOptimizer,
)
from estimator_train.legacy.contrib.opt.signs import (
    AdaMaxOptimizer,
    AddSignOptimizer,
    PowerSignOptimizer,
    VariableClippingOptimizer,
)
from estimator_train.legacy.contrib.opt.variants import (
    LARSOptimizer,
    LazyAdamOptimizer,
    MovingAverageOptimizer,
    NadamOptimizer,
)
from estimator_train.legacy.contrib.opt.weight_decay import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)

__all__ = [
    "AdaMaxOptimizer",
    "AdamWOptimizer",
    "AddSignOptimizer",
    "DecoupledWeightDecayExtension",
    "ElasticAverageCustomGetter",
    "ElasticAverageOptimizer",
    "ExternalOptimizerInterface",
    "LARSOptimizer",
    "LazyAdamOptimizer",
    "ModelAverageCustomGetter",
    "ModelAverageOptimizer",
    "MomentumWOptimizer",
    "MovingAverageOptimizer",
    "NadamOptimizer",
    "PowerSignOptimizer",
    "ScipyOptimizerInterface",
    "VariableClippingOptimizer",
    "extend_with_decoupled_weight_decay",
]
