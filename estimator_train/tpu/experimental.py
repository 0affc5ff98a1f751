"""The names of `tf.compat.v1.estimator.tpu.experimental`."""

from typing import Any


class EmbeddingConfigSpec:
    """Settings of embeddings in a TPU's memory; raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "EmbeddingConfigSpec is about the memory of TPUs, and estimator_train runs on CPU and "
            "GPU. Leave embedding_config_spec out: tf.feature_column.input_layer embeds there."
        )
