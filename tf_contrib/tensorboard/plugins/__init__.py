"""Stand-in for `tf.contrib.tensorboard.plugins`."""

from tensorboard.plugins import projector

__all__ = ["projector"]
