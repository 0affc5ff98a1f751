"""`multi_gpu_model` of Keras, which TensorFlow 2.4 removed."""

import logging
from collections.abc import Sequence
from typing import Any

_LOG = logging.getLogger(__name__)


def multi_gpu_model(
    model: Any, gpus: int | Sequence[int], cpu_merge: bool = True, cpu_relocation: bool = False
) -> Any:
    """Returns the model itself: its batches are not divided among devices.

    Args:
      model: Keras model.
      gpus: Number of GPUs, or their numbers.
      cpu_merge: Unused.
      cpu_relocation: Unused.

    Raises:
      ValueError: There are fewer than two GPUs.
    """
    del cpu_merge, cpu_relocation
    count = gpus if isinstance(gpus, int) else len(gpus)
    if count <= 1:
        raise ValueError(f"multi_gpu_model needs gpus of 2 or more, got {gpus}.")
    _LOG.warning(
        "multi_gpu_model returns the model for one device. To use all GPUs, build and compile the "
        "model in the scope of a tf.distribute.MirroredStrategy."
    )
    return model
