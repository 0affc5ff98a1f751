"""Types of Arrow as dtypes and shapes of tensors, and the conversion of arrays."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    import pyarrow as pa

Convert = Callable[[Any, Any], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Layout:
    """Tensors of the rows of an Arrow type.

    Attributes:
      dtype: Type of the values.
      inner_shape: Shape of one value, of fixed-size lists.
      ragged_rank: Number of list levels around a value.
    """

    dtype: tf.DType
    inner_shape: tuple[int, ...] = ()
    ragged_rank: int = 0

    @property
    def dtypes(self) -> list[tf.DType]:
        """Types of the arrays that `to_arrays` returns."""
        return [tf.int64] * self.ragged_rank + [self.dtype]


def find_layout(arrow_type: "pa.DataType") -> Layout:
    """Returns the layout of the tensors of an Arrow type.

    Raises:
      TypeError: No tensor can have values of the type.
    """
    from pyarrow import types

    arrow_type = get_storage_type(arrow_type)
    if types.is_dictionary(arrow_type):
        return find_layout(arrow_type.value_type)
    if types.is_fixed_size_list(arrow_type):
        values = find_layout(arrow_type.value_type)
        if values.ragged_rank:
            raise TypeError("a fixed-size list of lists has no tensor")
        return dataclasses.replace(values, inner_shape=(arrow_type.list_size, *values.inner_shape))
    if types.is_list(arrow_type) or types.is_large_list(arrow_type):
        values = find_layout(arrow_type.value_type)
        return dataclasses.replace(values, ragged_rank=values.ragged_rank + 1)
    if _is_text(arrow_type):
        return Layout(tf.string)
    if types.is_decimal(arrow_type):
        return Layout(tf.float64)
    if types.is_temporal(arrow_type) and not types.is_interval(arrow_type):
        return Layout(tf.int32 if arrow_type.bit_width == 32 else tf.int64)
    if types.is_primitive(arrow_type) and not types.is_temporal(arrow_type):
        return Layout(tf.as_dtype(arrow_type.to_pandas_dtype()))
    if types.is_null(arrow_type):
        raise TypeError(
            "all values are missing; give its type in types and its value in defaults, or leave "
            "the column out with select"
        )
    raise TypeError("this type has no tensor; leave the column out with select")


def get_storage_type(arrow_type: "pa.DataType") -> "pa.DataType":
    """Returns the type in which Arrow stores the values of an extension type, or the type."""
    while hasattr(arrow_type, "storage_type"):
        arrow_type = arrow_type.storage_type
    return arrow_type


def replace_values(arrow_type: "pa.DataType", dtype: tf.DType) -> "pa.DataType":
    """Returns the type whose values, also those in lists, have the type of a tensor.

    Raises:
      TypeError: Arrow has no such values.
    """
    import pyarrow as pa
    from pyarrow import types

    arrow_type = get_storage_type(arrow_type)
    if types.is_fixed_size_list(arrow_type):
        return pa.list_(replace_values(arrow_type.value_type, dtype), arrow_type.list_size)
    if types.is_large_list(arrow_type):
        return pa.large_list(replace_values(arrow_type.value_type, dtype))
    if types.is_list(arrow_type):
        return pa.list_(replace_values(arrow_type.value_type, dtype))
    if dtype == tf.string:
        values = arrow_type.value_type if types.is_dictionary(arrow_type) else arrow_type
        # Numbers, dates and so on become text; casting bytes to text would require UTF-8.
        is_bytes = _is_text(values) or types.is_null(values)
        return pa.large_binary() if is_bytes else pa.large_string()
    try:
        return pa.from_numpy_dtype(dtype.as_numpy_dtype)
    except pa.ArrowNotImplementedError:
        raise TypeError(f"Arrow has no {dtype.name}; choose another type in types") from None


def cast_values(array: "pa.Array", arrow_type: "pa.DataType") -> "pa.Array":
    """Returns an array of a type of `replace_values`; dates and times become their integers."""
    import pyarrow.compute as pc
    from pyarrow import types

    while hasattr(array, "storage"):
        array = array.storage
    if types.is_temporal(array.type) and not _is_text(arrow_type):
        array = _view_integers(array)
    cast = pc.cast(array, arrow_type)
    if array.type != cast.type:
        _check_changes(array, cast)
    return cast


def _check_changes(array: "pa.Array", cast: "pa.Array") -> None:
    """Raises ArrowInvalid for a value that a cast of pyarrow changes without an error."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    while types.is_nested(cast.type):
        array, cast = array.flatten(), cast.flatten()
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    is_changed = _find_changes(array, cast)
    if is_changed is not None and pc.any(is_changed).as_py():
        raise pa.ArrowInvalid(f"the value {array.filter(is_changed)[0]} is out of bounds")


def _find_changes(array: "pa.Array", cast: "pa.Array") -> "pa.Array | None":
    """Returns which values changed; None if pyarrow itself checks the cast."""
    import pyarrow.compute as pc
    from pyarrow import types

    is_number = types.is_integer(array.type) or types.is_floating(array.type)
    if types.is_boolean(cast.type) and is_number:
        return pc.not_equal(pc.cast(array, "double"), pc.cast(cast, "double"))
    if not types.is_floating(cast.type):
        return None
    if types.is_integer(array.type):
        if not types.is_float16(cast.type):
            return None
        # As pyarrow checks longer floats: all integers up to the limit have a float.
        return pc.greater(pc.abs(pc.cast(array, "double")), 2048.0)
    if types.is_floating(array.type):
        return pc.and_(pc.is_inf(cast), pc.is_finite(array))
    if types.is_decimal(array.type):
        return pc.is_inf(cast)
    if types.is_string(array.type) or types.is_large_string(array.type):
        is_word = pc.match_substring(array, "inf", ignore_case=True)
        return pc.and_(pc.is_inf(cast), pc.invert(is_word))
    return None


def _view_integers(array: "pa.Array") -> "pa.Array":
    import pyarrow as pa

    return array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())


def replace_views(arrow_type: "pa.DataType") -> "pa.DataType":
    """Returns the type whose text and bytes are not views, which polars writes to Arrow files.

    pyarrow 26 cannot take rows of views, look them up or decode a dictionary of them
    (`findings/pyarrow_views_lack_functions.sh`).
    """
    import pyarrow as pa
    from pyarrow import types

    if _is(arrow_type, "is_string_view"):
        return pa.large_string()
    if _is(arrow_type, "is_binary_view"):
        return pa.large_binary()
    values = getattr(arrow_type, "value_type", None)
    if values is None or (plain := replace_views(values)) == values:
        return arrow_type
    if types.is_dictionary(arrow_type):
        return pa.dictionary(arrow_type.index_type, plain, arrow_type.ordered)
    if types.is_fixed_size_list(arrow_type):
        return pa.list_(plain, arrow_type.list_size)
    return pa.large_list(plain) if types.is_large_list(arrow_type) else pa.list_(plain)


def _is_text(arrow_type: "pa.DataType") -> bool:
    names = (
        "is_string is_large_string is_string_view is_binary is_large_binary is_binary_view "
        "is_fixed_size_binary"
    )
    return any(_is(arrow_type, name) for name in names.split())


def _is(arrow_type: "pa.DataType", name: str) -> bool:
    """Returns what a function of pyarrow.types says; False if pyarrow is too old to have it."""
    from pyarrow import types

    check = getattr(types, name, None)
    return check is not None and bool(check(arrow_type))


class MissingValueError(ValueError):
    """Error of a value that is missing and has no default."""


def to_arrays(
    array: "pa.Array", default: Any = None, convert: Convert | None = None
) -> list[np.ndarray]:
    """Returns the arrays of a layout: the row splits of each list level, then the values.

    Numbers share the memory of Arrow.

    Args:
      array: An array of a type that has a layout.
      default: Replaces missing values; a missing list becomes an empty one. None is an error.
      convert: Function from values that are not lists, and the default, to their array.

    Raises:
      MissingValueError: A value is missing, and there is no default.
    """
    import pyarrow.compute as pc
    from pyarrow import types

    while hasattr(array, "storage"):
        array = array.storage
    if default is None and array.null_count:
        raise MissingValueError
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
        if default is None and array.null_count:  # Dictionaries may contain missing values.
            raise MissingValueError
    if types.is_fixed_size_list(array.type):
        return [_to_matrix(array, default, convert)]
    if types.is_list(array.type) or types.is_large_list(array.type):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
        splits = np.zeros(len(array) + 1, np.int64)
        np.cumsum(lengths, out=splits[1:])
        return [splits, *to_arrays(array.flatten(), default, convert)]
    return [(convert or _to_array)(array, default)]


def _to_matrix(array: "pa.Array", default: Any, convert: Convert | None) -> np.ndarray:
    rows = to_arrays(array.flatten(), default, convert)[0]  # Without the missing lists.
    rows = rows.reshape(len(array) - array.null_count, array.type.list_size, *rows.shape[1:])
    if not array.null_count:
        return rows
    matrix = np.full([len(array), *rows.shape[1:]], default, rows.dtype)
    matrix[array.is_valid().to_numpy(zero_copy_only=False)] = rows
    return matrix


def _to_array(array: "pa.Array", default: Any) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    if types.is_temporal(array.type):
        array = _view_integers(array)
    elif types.is_decimal(array.type):
        array = pc.cast(array, pa.float64())
    elif _is_text(array.type):
        # TensorFlow copies bytes, and would first encode each str.
        array = pc.cast(array, pa.large_binary())
    if array.null_count:
        if isinstance(default, str):
            default = default.encode()
        array = pc.fill_null(array, pa.scalar(default, array.type))
    return array.to_numpy(zero_copy_only=False)
