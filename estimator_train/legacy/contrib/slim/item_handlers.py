"""How the features of an example become the tensors of its items."""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_RAW = ("raw", "RAW")


class ItemHandler(abc.ABC):
    """Makes one tensor out of some features.

    Args:
      keys: The names of the features, or the one name.
    """

    def __init__(self, keys: str | Sequence[str]) -> None:
        self._keys: Any = [keys] if isinstance(keys, str) else keys

    @property
    def keys(self) -> Any:
        """The names of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The tensor of the item.

        Args:
          keys_to_tensors: Each feature by its name, as it was parsed.
        """


class ItemHandlerCallback(ItemHandler):
    """A function makes the tensor.

    Args:
      keys: The names of the features.
      func: Called with a dict of them.
    """

    def __init__(self, keys: str | Sequence[str], func: Callable[[Any], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """What the function returns."""
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes of four features that each have one side of all boxes.

    Args:
      keys: The names of the four, ymin, xmin, ymax, xmax by default.
      prefix: Stands before each name.

    Raises:
      ValueError: Not four keys.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        self._prefix = prefix
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """A tensor of shape (boxes, 4)."""
        sides = [tf.reshape(_values(keys_to_tensors[key]), [-1]) for key in self._keys]
        return tf.stack(sides, axis=1)


class Tensor(ItemHandler):
    """The values of one feature.

    Args:
      tensor_key: The name of the feature.
      shape_keys: The name of a feature with the shape, or of one for each dimension.
      shape: The shape itself, if it is to be another.
      default_value: What stands for values that a sparse feature lacks.

    Raises:
      ValueError: Both `shape_keys` and `shape`.
    """

    def __init__(
        self,
        tensor_key: str,
        shape_keys: str | Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        default_value: Any = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        self._tensor_key = tensor_key
        self._shape_keys = [shape_keys] if isinstance(shape_keys, str) else shape_keys
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *(self._shape_keys or ())])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The feature as a dense tensor, of the wanted shape."""
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            parts = [_values(keys_to_tensors[key]) for key in self._shape_keys]
            shape = tf.concat([tf.reshape(part, [-1]) for part in parts], 0)
        if isinstance(tensor, tf.SparseTensor):
            if shape is not None:
                tensor = tf.sparse.reshape(tensor, tf.cast(shape, tf.int64))
            return tf.sparse.to_dense(tensor, self._default_or_empty(tensor.dtype))
        return tensor if shape is None else tf.reshape(tensor, shape)

    def _default_or_empty(self, dtype: Any) -> Any:
        return "" if dtype == tf.string and self._default_value == 0 else self._default_value


class LookupTensor(Tensor):
    """The values of one feature, looked up in a table; the other arguments are those of Tensor.

    Args:
      table: What `lookup` is asked of.
    """

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: str | Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        default_value: Any = "",
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """What the table has for each value."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of a second handler wherever that of the first has no values.

    Args:
      handler: The first.
      backup: The second.

    Raises:
      ValueError: One of the two is no ItemHandler.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for role, one in (("Primary", handler), ("Backup", backup)):
            if not isinstance(one, ItemHandler):
                raise ValueError(f"{role} handler is of type {type(one)} instead of ItemHandler")
        self._handler, self._backup = handler, backup
        super().__init__(list({**dict.fromkeys(handler.keys), **dict.fromkeys(backup.keys)}))

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item of the first handler, or that of the second."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return tf.cond(
            tf.equal(tf.size(item), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


class SparseTensor(ItemHandler):
    """A tensor whose indices and values are features.

    Args:
      indices_key: The feature of the indices, "indices" by default.
      values_key: The feature of the values, "values" by default.
      shape_key: The feature of the shape.
      shape: The shape itself. With neither it is that of the indices.
      densify: Makes a dense tensor of it.
      default_value: What the dense one has elsewhere.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        keys = [self._indices_key, self._values_key]
        super().__init__(keys + ([shape_key] if shape_key else []))

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The sparse tensor, or the dense one."""
        indices = keys_to_tensors[self._indices_key]
        shape = self._shape
        if self._shape_key:
            shape = _values(keys_to_tensors[self._shape_key])
        elif shape is None:
            shape = indices.dense_shape
        positions = tf.cast(tf.reshape(_values(indices), [-1, 1]), tf.int64)
        values = _values(keys_to_tensors[self._values_key])
        tensor = tf.SparseTensor(positions, values, tf.cast(shape, tf.int64))
        return tf.sparse.to_dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """A picture, or the pictures of one example.

    Args:
      image_key: The feature of the bytes, "image/encoded" by default.
      format_key: The feature with "jpeg", "png", "raw" or the like, "image/format" by default.
      shape: The shape of the picture, if it is known.
      channels: The number of channels: 1, 3 or 4.
      dtype: That of the picture; raw bytes are read as this dtype.
      repeated: There are several, in a feature of one dimension.
      dct_method: How JPEGs are decoded; see `tf.image.decode_jpeg`.
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int | None = 3,
        dtype: Any = tf.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """A tensor of shape (height, width, channels), or (pictures, height, width, channels)."""
        encoded = keys_to_tensors[self._image_key]
        kind = keys_to_tensors[self._format_key]
        if not self._repeated:
            return self._decoded(encoded, kind)
        return tf.map_fn(
            lambda one: self._decoded(one, kind), encoded, fn_output_signature=self._dtype
        )

    def _decoded(self, encoded: Any, kind: Any) -> Any:
        is_raw = tf.reduce_any([tf.equal(kind, raw) for raw in _RAW])
        image = tf.cond(is_raw, lambda: self._raw(encoded), lambda: self._picture(encoded))
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else tf.reshape(image, self._shape)

    def _raw(self, encoded: Any) -> Any:
        flat = tf.io.decode_raw(encoded, self._dtype)
        # The shape of bytes that tell none is left to the picture's own, or they are one row.
        return tf.reshape(flat, [1, -1, self._channels] if self._shape is None else self._shape)

    def _picture(self, encoded: Any) -> Any:
        channels = self._channels or 0
        image = tf.cond(
            _v1.image.is_jpeg(encoded),
            lambda: _v1.image.decode_jpeg(encoded, channels, dct_method=self._dct_method),
            lambda: tf.io.decode_image(encoded, channels, expand_animations=False),
        )
        return tf.cast(image, self._dtype)


def _values(tensor: Any) -> Any:
    return tensor.values if isinstance(tensor, tf.SparseTensor) else tensor
