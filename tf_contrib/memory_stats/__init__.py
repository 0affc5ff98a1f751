"""Stand-in for `tf.contrib.memory_stats`: the memory of the first GPU."""

import tensorflow as tf

__all__ = ["BytesInUse", "MaxBytesInUse"]


def BytesInUse() -> tf.Tensor:  # noqa: N802
    """Returns the number of bytes in use, int64; 0 without a GPU."""
    return _read("current")


def MaxBytesInUse() -> tf.Tensor:  # noqa: N802
    """Returns the largest number of bytes that were in use at once, int64; 0 without a GPU."""
    return _read("peak")


def _read(key: str) -> tf.Tensor:
    def read() -> int:
        has_gpu = bool(tf.config.list_logical_devices("GPU"))
        return tf.config.experimental.get_memory_info("GPU:0")[key] if has_gpu else 0

    count = tf.numpy_function(read, [], tf.int64, stateful=True)
    count.set_shape([])
    return count
