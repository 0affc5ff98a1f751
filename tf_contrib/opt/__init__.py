"""Stand-in for `tf.contrib.opt`: optimizers that `tf.train` does not have."""

from tf_contrib.opt.adam_lars_averages import (
    LARSOptimizer,
    LazyAdamOptimizer,
    MovingAverageOptimizer,
    NadamOptimizer,
)
from tf_contrib.opt.elastic_average import (
    ElasticAverageCustomGetter,
    ElasticAverageOptimizer,
)
from tf_contrib.opt.external import (
    ExternalOptimizerInterface,
    ScipyOptimizerInterface,
)
from tf_contrib.opt.model_average import (
    ModelAverageCustomGetter,
    ModelAverageOptimizer,
)
from tf_contrib.opt.signs import (
    AdaMaxOptimizer,
    AddSignOptimizer,
    PowerSignOptimizer,
    VariableClippingOptimizer,
)
from tf_contrib.opt.weight_decay import (
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
