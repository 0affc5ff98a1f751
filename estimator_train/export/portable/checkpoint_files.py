"""Writes the variables of a checkpoint as safetensors or npz, for programs without TensorFlow.

Variables are read and written one after the other, so that memory holds one of them at a time.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.remote import write_locally

# The names of dtypes in the format safetensors, by TensorFlow's.
_SAFETENSORS = {
    tf.bool: "BOOL",
    tf.uint8: "U8",
    tf.int8: "I8",
    tf.uint16: "U16",
    tf.int16: "I16",
    tf.uint32: "U32",
    tf.int32: "I32",
    tf.uint64: "U64",
    tf.int64: "I64",
    tf.float16: "F16",
    tf.bfloat16: "BF16",
    tf.float32: "F32",
    tf.float64: "F64",
    tf.complex64: "C64",
    tf.dtypes.as_dtype("float8_e4m3fn"): "F8_E4M3",
    tf.dtypes.as_dtype("float8_e5m2"): "F8_E5M2",
}
_ALIGNMENT = 8


class Variable(NamedTuple):
    """Variable of a checkpoint.

    Attributes:
      name: Its name.
      shape: Its shape.
      dtype: Its dtype.
    """

    name: str
    shape: tuple[int, ...]
    dtype: tf.DType

    @property
    def size(self) -> int:
        """Number of bytes of the values."""
        return math.prod(self.shape) * int(self.dtype.size)


def list_variables(reader: Any) -> list[Variable]:
    """Returns the variables of a checkpoint by name; parts of a variable are joined.

    Args:
      reader: Result of `tf.train.load_checkpoint`.
    """
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    return [Variable(name, tuple(shapes[name]), dtypes[name]) for name in sorted(shapes)]


def write_variables(checkpoint_path: str, path: str, format: str) -> list[str]:
    """Writes the variables of a checkpoint into one file.

    Args:
      checkpoint_path: Path prefix of the checkpoint.
      path: The new file, on a disk or a store.
      format: "safetensors" or "npz".

    Returns:
      The names of variables that are strings, such as the position of an input. Neither format has
      strings; they are left out.

    Raises:
      ValueError: The format does not exist, or does not have the dtype of a variable.
      OSError: The file cannot be written.
    """
    writers = {"safetensors": _write_safetensors, "npz": _write_npz}
    if format not in writers:
        raise ValueError(f"format='{format}' is not a format; choose one of {sorted(writers)}.")
    reader = tf.train.load_checkpoint(checkpoint_path)
    variables = list_variables(reader)
    strings = [variable.name for variable in variables if variable.dtype == tf.string]
    numbers = [variable for variable in variables if variable.dtype != tf.string]
    with write_locally(path) as local, name_output(path):
        unfinished = f"{local}.part"
        os.makedirs(os.path.dirname(os.path.abspath(local)), exist_ok=True)
        try:
            with open(unfinished, "wb") as file:
                writers[format](file, numbers, reader.get_tensor)
            os.replace(unfinished, local)
        finally:
            if os.path.exists(unfinished):
                os.remove(unfinished)
    return strings


@contextlib.contextmanager
def name_output(path: str) -> Iterator[None]:
    """Makes errors of the file system name the path of an output, not of a temporary file."""
    try:
        yield
    except OSError as error:
        text = f"the output cannot be written: {error.strerror}. Choose another path."
        raise OSError(error.errno, text, path) from error


def _write_safetensors(
    file: IO[bytes], variables: Iterable[Variable], read: Callable[[str], Any]
) -> None:
    # Large elements come first, so that each variable begins at a multiple of its element's size.
    ordered = sorted(variables, key=lambda variable: (-variable.dtype.size, variable.name))
    header, offset = {}, 0
    for variable in ordered:
        if variable.dtype not in _SAFETENSORS:
            raise ValueError(
                f"Variable '{variable.name}' is {variable.dtype.name}, which safetensors does not "
                "have. Use --to=npz."
            )
        header[variable.name] = {
            "dtype": _SAFETENSORS[variable.dtype],
            "shape": variable.shape,
            "data_offsets": [offset, offset + variable.size],
        }
        offset += variable.size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    file.write(struct.pack("<Q", len(text)) + text)
    for variable in ordered:
        file.write(_get_bytes(read(variable.name)))


def _write_npz(file: IO[bytes], variables: Iterable[Variable], read: Callable[[str], Any]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for variable in variables:
            value = np.asarray(read(variable.name))
            if value.dtype.isbuiltin != 1:  # NumPy alone cannot read bfloat16 and float8.
                value = value.astype(np.float32)
            with archive.open(f"{variable.name}.npy", "w", force_zip64=True) as entry:
                header = np.lib.format.header_data_from_array_1_0(value)
                np.lib.format.write_array_header_2_0(entry, header)
                entry.write(_get_bytes(value))


def _get_bytes(value: Any) -> memoryview:
    """Returns the bytes of an array, in the order of its elements, without a copy."""
    flat: Any = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
    return memoryview(flat)
