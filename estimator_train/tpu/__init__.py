"""TPUEstimator and its settings on CPU and GPU: the names of `tf.compat.v1.estimator.tpu`.

The host does the work of a TPU: steps run in loops, `params["batch_size"]` passes batch sizes to
input_fn, and host calls run with each step that hooks see.
"""

from estimator_train.estimator_spec.tpu_spec import TPUEstimatorSpec
from estimator_train.tpu import experimental
from estimator_train.tpu.config import InputPipelineConfig, RunConfig, TPUConfig
from estimator_train.tpu.estimator import TPUEstimator

__all__ = [
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "experimental",
]
