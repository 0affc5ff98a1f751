"""Reads a checkpoint to its end, and tells damaged files from failing storage.

Only a wrong checksum, a missing file or content that cannot be decoded proves damage.
"""

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import storage

_NAMED_FILE = re.compile(r"\.index\b|\.data-\d{5}-of-\d{5}")
_PROOFS = re.compile(
    r"checksum|sstable|corrupt|truncated|bad block|bad entry|pars(e|ing)|not found in checkpoint",
    re.IGNORECASE,
)
_UNREADABLE_TYPES = ("not convertible to numpy dtype", "Data type not supported")


@dataclasses.dataclass(frozen=True)
class Reading:
    """Result of reading a checkpoint once; it is intact if nothing is set.

    Attributes:
      damage: Description of the damage.
      missing: The file that is missing, if that is the damage.
      fault: Error of the storage, which says nothing about the files.
    """

    damage: str | None = None
    missing: str | None = None
    fault: BaseException | None = None


def has_complete_data(path: str, size: int) -> bool:
    """Returns whether the index can be read, and the data files are as large as its values.

    Args:
      path: The checkpoint's path prefix.
      size: The size of all data files in bytes.
    """
    try:
        reader = tf.train.load_checkpoint(path)
        dtypes = reader.get_variable_to_dtype_map()
        shapes = reader.get_variable_to_shape_map()
    except Exception:  # `read_checkpoint` finds out why.
        return False
    # Types without a fixed size count as nothing.
    return size >= sum(dtype.size * math.prod(shapes[name]) for name, dtype in dtypes.items())


def read_checkpoint(path: str, files: Sequence[str]) -> Reading:
    """Reads all values of a checkpoint once.

    Args:
      path: The checkpoint's path prefix.
      files: Its files.
    """
    is_open = False
    try:
        reader = tf.train.load_checkpoint(path)
        is_open = True
        for name, dtype in reader.get_variable_to_dtype_map().items():
            if dtype not in (tf.variant, tf.resource):
                _read_variable(reader, name)
    except MemoryError as error:
        # The index is small: only a wrong length in it asks for more memory than there is.
        return Reading(fault=error) if is_open else _classify_error(path, files, error)
    except Exception as error:  # The reader raises IndexError, RuntimeError, ... for torn files.
        return _classify_error(path, files, error)
    return Reading()


def _read_variable(reader: Any, name: str) -> None:
    """Reads a variable, unless the reader cannot return such a variable at all.

    Optimizers name the slots of a partitioned variable one by one, each a part of a variable that
    the checkpoint does not have. NumPy has no form of some types.
    """
    try:
        reader.get_tensor(name)
    except NotImplementedError:
        return
    except Exception as error:
        if not any(text in str(error) for text in ("sufficient slices", *_UNREADABLE_TYPES)):
            raise


def _classify_error(path: str, files: Sequence[str], error: BaseException) -> Reading:
    """Decides whether an error of the reader proves that the files are damaged."""
    try:
        missing = _find_missing_file(path, str(error))
        if missing:
            return Reading(damage=f"{missing} is missing", missing=missing)
        if not _proves_damage(path, error):
            return Reading(fault=error)
        for file in files:
            storage.check_readable(file)
    except (tf.errors.OpError, OSError) as fault:
        return Reading(fault=fault)
    return Reading(damage=storage.take_first_line(error))


def _proves_damage(path: str, error: BaseException) -> bool:
    message = str(error).replace(path, "")
    if isinstance(error, OSError) or storage.names_system_error(message):
        return False
    if not isinstance(error, tf.errors.OpError) or isinstance(error, tf.errors.DataLossError):
        return True
    # TensorFlow's reader gives most errors the code UNKNOWN, and their meaning in the message.
    is_vague = error.error_code in (tf.errors.UNKNOWN, tf.errors.NOT_FOUND)
    return is_vague and bool(_PROOFS.search(message))


def _find_missing_file(path: str, message: str) -> str | None:
    """Returns a file of a checkpoint that does not exist, of those that a message names."""
    if storage.is_file(path + ".index"):
        named = [path + match[0] for match in _NAMED_FILE.finditer(message)]
    else:  # A checkpoint of the first format is one file.
        named = [] if storage.is_file(path) else [path + ".index"]
    return next((file for file in named if not storage.is_file(file)), None)
