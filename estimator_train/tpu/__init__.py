"""TPUEstimator and its settings on CPU and GPU: the names of `tf.compat.v1.estimator.tpu`.

What a TPU did is done by the host here: steps run in loops, batch sizes reach input_fn by
`params["batch_size"]`, and host calls run beside the loop.
"""

from estimator_train.tpu import experimental
from estimator_train.tpu.config import InputPipelineConfig, RunConfig, TPUConfig
from estimator_train.tpu.estimator import TPUEstimator
from estimator_train.tpu.spec import TPUEstimatorSpec

__all__ = [
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "experimental",
]
