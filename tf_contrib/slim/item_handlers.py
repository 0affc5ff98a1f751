"""Item handlers, which convert the features of an example to tensors."""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Shape, Table, TensorLike

_v1 = tf.compat.v1
_RAW = ("raw", "RAW")


class ItemHandler(abc.ABC):
    """Base class of handlers, which make one tensor of some features.

    Args:
      keys: Name or names of the features.
    """

    def __init__(self, keys: str | Sequence[str]) -> None:
        self._keys: Any = [keys] if isinstance(keys, str) else keys

    @property
    def keys(self) -> Sequence[str]:
        """Names of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> tf.Tensor | tf.SparseTensor:
        """Returns the tensor of the item.

        Args:
          keys_to_tensors: Parsed features by name.
        """


class ItemHandlerCallback(ItemHandler):
    """Handler that calls a function.

    Args:
      keys: Name or names of the features.
      func: Function of a dict of the features.
    """

    def __init__(self, keys: str | Sequence[str], func: Callable[[Any], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> tf.Tensor | tf.SparseTensor:
        """Returns the result of the function."""
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Handler of bounding boxes, from four features with one side of all boxes each.

    Args:
      keys: Names of the features; ymin, xmin, ymax, xmax by default.
      prefix: Prefix of the names.

    Raises:
      ValueError: keys does not have four elements.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        self._prefix = prefix
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> tf.Tensor:
        """Returns a tensor of shape (boxes, 4)."""
        sides = [tf.reshape(_get_values(keys_to_tensors[key]), [-1]) for key in self._keys]
        return tf.stack(sides, axis=1)


class Tensor(ItemHandler):
    """Handler that returns one feature.

    Args:
      tensor_key: Name of the feature.
      shape_keys: Name of a feature with the shape, or of a feature for each dimension.
      shape: Shape to reshape the feature to.
      default_value: Value for the gaps of a sparse feature.

    Raises:
      ValueError: Both shape_keys and shape are given.
    """

    def __init__(
        self,
        tensor_key: str,
        shape_keys: str | Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        default_value: TensorLike = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        self._tensor_key = tensor_key
        self._shape_keys = [shape_keys] if isinstance(shape_keys, str) else shape_keys
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *(self._shape_keys or ())])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> tf.Tensor | tf.SparseTensor:
        """Returns the feature as a dense tensor."""
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            parts = [_get_values(keys_to_tensors[key]) for key in self._shape_keys]
            shape = tf.concat([tf.reshape(part, [-1]) for part in parts], 0)
        if isinstance(tensor, tf.SparseTensor):
            if shape is not None:
                tensor = tf.sparse.reshape(tensor, tf.cast(shape, tf.int64))
            return tf.sparse.to_dense(tensor, self._get_default_value(tensor.dtype))
        return tensor if shape is None else tf.reshape(tensor, shape)

    def _get_default_value(self, dtype: tf.DType) -> TensorLike:
        return "" if dtype == tf.string and self._default_value == 0 else self._default_value


class LookupTensor(Tensor):
    """Handler that looks up one feature in a table; see `Tensor` for other arguments.

    Args:
      table: Table with a method `lookup`.
    """

    def __init__(
        self,
        tensor_key: str,
        table: Table,
        shape_keys: str | Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        default_value: TensorLike = "",
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> tf.Tensor | tf.SparseTensor:
        """Returns the values of the table."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """Handler that uses a second handler if the item of the first is empty.

    Args:
      handler: First handler.
      backup: Second handler.

    Raises:
      ValueError: A handler is not an ItemHandler.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for role, candidate in (("Primary", handler), ("Backup", backup)):
            if not isinstance(candidate, ItemHandler):
                raise ValueError(
                    f"{role} handler is of type {type(candidate)} instead of ItemHandler"
                )
        self._handler, self._backup = handler, backup
        super().__init__(list({**dict.fromkeys(handler.keys), **dict.fromkeys(backup.keys)}))

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> tf.Tensor | tf.SparseTensor:
        """Returns the item of the first handler, or that of the second if the first is empty."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return tf.cond(
            tf.equal(tf.size(item), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


class SparseTensor(ItemHandler):
    """Handler that makes a sparse tensor of features with indices and values.

    Args:
      indices_key: Name of the feature with indices, "indices" by default.
      values_key: Name of the feature with values, "values" by default.
      shape_key: Name of the feature with the shape.
      shape: Shape, instead of shape_key; by default that of the indices.
      densify: Whether to return a dense tensor.
      default_value: Value for the gaps of the dense tensor.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Shape | None = None,
        densify: bool = False,
        default_value: TensorLike = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        keys = [self._indices_key, self._values_key]
        super().__init__(keys + ([shape_key] if shape_key else []))

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> tf.Tensor | tf.SparseTensor:
        """Returns the sparse or dense tensor."""
        indices = keys_to_tensors[self._indices_key]
        shape = self._shape
        if self._shape_key:
            shape = _get_values(keys_to_tensors[self._shape_key])
        elif shape is None:
            shape = indices.dense_shape
        positions = tf.cast(tf.reshape(_get_values(indices), [-1, 1]), tf.int64)
        values = _get_values(keys_to_tensors[self._values_key])
        tensor = tf.SparseTensor(positions, values, tf.cast(shape, tf.int64))
        return tf.sparse.to_dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """Handler that decodes one image, or several images of an example.

    Args:
      image_key: Name of the feature with the encoded image, "image/encoded" by default.
      format_key: Name of the feature with the format, "jpeg", "png" or "raw"; "image/format" by
        default.
      shape: Shape of the image, if it is known.
      channels: Number of channels: 1, 3 or 4.
      dtype: Type of the image and of raw bytes.
      repeated: Whether the feature is a vector of encoded images.
      dct_method: Decoding method of JPEGs; see `tf.image.decode_jpeg`.
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Shape | None = None,
        channels: int | None = 3,
        dtype: tf.DType = tf.uint8,
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

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> tf.Tensor:
        """Returns one image, (height, width, channels), or several, with a first axis of images."""
        encoded = keys_to_tensors[self._image_key]
        kind = keys_to_tensors[self._format_key]
        if not self._repeated:
            return self._decode(encoded, kind)
        return tf.map_fn(
            lambda image: self._decode(image, kind), encoded, fn_output_signature=self._dtype
        )

    def _decode(self, encoded: tf.Tensor, kind: tf.Tensor) -> tf.Tensor:
        is_raw = tf.reduce_any([tf.equal(kind, raw) for raw in _RAW])
        image = tf.cond(
            is_raw, lambda: self._decode_raw(encoded), lambda: self._decode_image(encoded)
        )
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else tf.reshape(image, self._shape)

    def _decode_raw(self, encoded: tf.Tensor) -> tf.Tensor:
        flat = tf.io.decode_raw(encoded, self._dtype)
        # Raw bytes contain no shape: without `shape`, the image has a single row.
        return tf.reshape(flat, [1, -1, self._channels] if self._shape is None else self._shape)

    def _decode_image(self, encoded: tf.Tensor) -> tf.Tensor:
        channels = self._channels or 0
        image = tf.cond(
            _v1.image.is_jpeg(encoded),
            lambda: _v1.image.decode_jpeg(encoded, channels, dct_method=self._dct_method),
            lambda: tf.io.decode_image(encoded, channels, expand_animations=False),
        )
        return tf.cast(image, self._dtype)


def _get_values(tensor: tf.Tensor | tf.SparseTensor) -> tf.Tensor:
    return tensor.values if isinstance(tensor, tf.SparseTensor) else tensor
