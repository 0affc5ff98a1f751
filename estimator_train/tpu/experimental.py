"""The names of `tf.compat.v1.estimator.tpu.experimental`."""

from typing import Any


class EmbeddingConfigSpec:
    """Stands for the settings of embeddings in a TPU's memory, which there are none of here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "EmbeddingConfigSpec is about the memory of TPUs, and estimator_train runs on CPU and "
            "GPU. Leave embedding_config_spec out: tf.feature_column.input_layer embeds there."
        )
