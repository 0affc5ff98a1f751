"""Files in the way of a checkpoint that is written: those of failed writes and damaged ones."""

import contextlib
import os
import re

import tensorflow as tf

from estimator_train.engine.checkpoints import storage
from estimator_train.engine.checkpoints.integrity import find_damage, is_unchanged

_LOG = tf.get_logger()
_FILES = re.compile(r"\.index|\.meta|\.data-\d{5}-of-\d{5}")


def set_aside_damaged(path: str) -> None:
    """Moves the files of a damaged checkpoint that is about to be overwritten to `damaged/`.

    Args:
      path: The path prefix of the checkpoint that is written next.
    """
    with contextlib.suppress(tf.errors.OpError, OSError):  # The write meets the same fault.
        if not storage.is_file(path + ".index") or is_unchanged(path):
            return
        damage = find_damage(path)
        if damage is None:
            return
        directory, name = os.path.split(path)
        target = os.path.join(directory, "damaged")
        tf.io.gfile.makedirs(target)
        for file in tf.io.gfile.listdir(directory):
            if file.startswith(name) and _FILES.fullmatch(file[len(name) :]):
                moved = os.path.join(target, file)
                tf.io.gfile.rename(os.path.join(directory, file), moved, overwrite=True)
        _LOG.warning("The damaged files of %s are in %s now: %s.", path, target, damage)


def remove_unfinished(path: str) -> None:
    """Removes the files of a checkpoint that could not be written, as far as possible.

    Files with an index stay: they may be a complete checkpoint of the same step.
    """
    with contextlib.suppress(tf.errors.OpError, OSError):  # A fault is no proof of a missing index.
        if storage.is_file(path + ".index"):
            return
        for left in (*tf.io.gfile.glob(path + "_temp*"), *tf.io.gfile.glob(path + ".*")):
            remove = tf.io.gfile.rmtree if tf.io.gfile.isdir(left) else tf.io.gfile.remove
            remove(left)
