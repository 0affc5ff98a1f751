"""Layers of `tf.contrib.layers` without weights."""

import tensorflow as tf

from tf_contrib._types import (
    Collections,
    Condition,
    Scope,
    Shape,
    TensorLike,
    VariableCollections,
)
from tf_contrib.framework.arg_scope import add_arg_scope
from tf_contrib.framework.variables import model_variable
from tf_contrib.layers.convolution import check_data_format
from tf_contrib.layers.utils import collect_named_outputs, smart_cond

_v1 = tf.compat.v1


@add_arg_scope
def dropout(
    inputs: TensorLike,
    keep_prob: TensorLike = 0.5,
    noise_shape: Shape | None = None,
    is_training: Condition = True,
    outputs_collections: Collections | None = None,
    scope: Scope | None = None,
    seed: int | None = None,
) -> tf.Tensor:
    """Sets values to zero with probability 1 - keep_prob in training, and scales the others."""
    with _v1.variable_scope(scope, "Dropout", [inputs]) as variable_scope:
        outputs = smart_cond(
            is_training,
            lambda: _v1.nn.dropout(inputs, keep_prob, noise_shape, seed),
            lambda: tf.identity(inputs),
        )
        return collect_named_outputs(outputs_collections, variable_scope.name, outputs)


@add_arg_scope
def flatten(
    inputs: TensorLike, outputs_collections: Collections | None = None, scope: Scope | None = None
) -> tf.Tensor:
    """Merges all dimensions but the first.

    Raises:
      ValueError: inputs is a scalar.
    """
    inputs = tf.convert_to_tensor(inputs)
    if inputs.shape.rank == 0:
        raise ValueError("inputs must have a rank of at least 1, got a scalar.")
    size = inputs.shape[1:].num_elements()
    with tf.name_scope(scope or "Flatten") as full_scope:
        inner_size = -1 if size is None else size
        rows = tf.shape(inputs)[0] if size is None else -1
        # Programs read frozen graphs by this name.
        outputs = tf.reshape(inputs, [rows, inner_size], name="flatten/Reshape")
        return collect_named_outputs(outputs_collections, full_scope, outputs)


@add_arg_scope
def softmax(logits: TensorLike, scope: Scope | None = None) -> tf.Tensor:
    """Computes the softmax over the last dimension; the output is named `softmax/Reshape_1`."""
    with _v1.variable_scope(scope, "softmax", [logits]):
        flat = tf.nn.softmax(tf.reshape(logits, [-1, logits.shape[-1]]))
        outputs = tf.reshape(flat, tf.shape(logits))
        outputs.set_shape(logits.shape)
        return outputs


@add_arg_scope
def one_hot_encoding(
    labels: TensorLike,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Collections | None = None,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Converts class numbers to one-hot vectors."""
    with tf.name_scope(scope or "OneHotEncoding") as full_scope:
        encoded = tf.one_hot(tf.cast(labels, tf.int64), num_classes, on_value, off_value)
        return collect_named_outputs(outputs_collections, full_scope, encoded)


@add_arg_scope
def unit_norm(
    inputs: TensorLike, dim: int, epsilon: float = 1e-7, scope: Scope | None = None
) -> tf.Tensor:
    """Scales vectors along a dimension to unit length.

    Raises:
      ValueError: The dimension does not exist; negative numbers are not accepted.
    """
    if not 0 <= dim < inputs.shape.rank:
        raise ValueError("dim must be positive but smaller than the input rank.")
    with tf.name_scope(scope or "UnitNorm"):
        length = tf.sqrt(tf.reduce_sum(tf.square(inputs), dim, keepdims=True) + epsilon)
        return tf.divide(inputs, length, name="div")


@add_arg_scope
def maxout(
    inputs: TensorLike, num_units: int, axis: int = -1, scope: Scope | None = None
) -> tf.Tensor:
    """Returns the maximum of each group of values (Goodfellow et al., 2013).

    Args:
      inputs: Tensor.
      num_units: Number of groups.
      axis: Axis to divide into groups.
      scope: Name of the layer.

    Raises:
      ValueError: num_units does not divide the axis.
    """
    with tf.name_scope(scope or "MaxOut"):
        inputs = tf.convert_to_tensor(inputs)
        axis %= inputs.shape.rank
        size, remainder = divmod(inputs.shape.as_list()[axis], num_units)
        if remainder:
            raise ValueError(f"{num_units} groups do not divide {inputs.shape[axis]} values.")
        shape = tf.shape(inputs)
        grouped = tf.concat([shape[:axis], [num_units, size], shape[axis + 1 :]], 0)
        return tf.reduce_max(tf.reshape(inputs, grouped), axis + 1)


@add_arg_scope
def dense_to_sparse(
    tensor: TensorLike,
    eos_token: int = 0,
    outputs_collections: Collections | None = None,
    scope: Scope | None = None,
) -> tf.SparseTensor:
    """Returns the values of a dense tensor that are not `eos_token`, such as the labels of CTC."""
    with _v1.variable_scope(scope, "dense_to_sparse", [tensor]) as variable_scope:
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        shape = tf.shape(tensor, out_type=tf.int64)
        outputs = tf.SparseTensor(indices, tf.gather_nd(tensor, indices), shape)
        return collect_named_outputs(outputs_collections, variable_scope.name, outputs)


@add_arg_scope
def images_to_sequence(
    inputs: TensorLike,
    data_format: str = "NHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> tf.Tensor:
    """Returns pictures as sequences along the width: (width, batch * height, channels)."""
    inputs = tf.convert_to_tensor(inputs)
    is_last = check_data_format(data_format) == "NHWC"
    with tf.name_scope(scope or "ImagesToSequence") as name_scope:
        columns = tf.transpose(inputs, [2, 0, 1, 3] if is_last else [3, 0, 2, 1])
        width, channels = columns.shape[0], columns.shape[3]
        sizes = tf.shape(columns)
        shape = [sizes[0] if width is None else width, -1]
        shape.append(sizes[3] if channels is None else channels)
        outputs = tf.reshape(columns, shape, name="Reshape")
        return collect_named_outputs(outputs_collections, name_scope, outputs)


@add_arg_scope
def sequence_to_images(
    inputs: TensorLike,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> tf.Tensor:
    """Returns the pictures of sequences that `images_to_sequence` made.

    Args:
      inputs: The sequences.
      height: The height of the pictures.
      output_data_format: Whether the channels come first or last.
      outputs_collections: Collections for the pictures.
      scope: Name of the name scope.
    """
    inputs = tf.convert_to_tensor(inputs)
    with tf.name_scope(scope or "SequenceToImages") as name_scope:
        width, rows, channels = inputs.shape.as_list()
        sizes = tf.shape(inputs)
        images = tf.reshape(
            inputs,
            [
                sizes[0] if width is None else width,
                -1 if rows is None else rows // height,
                height,
                sizes[2] if channels is None else channels,
            ],
        )
        is_first = output_data_format == "channels_first"
        outputs = tf.transpose(images, [1, 3, 2, 0] if is_first else [1, 2, 0, 3], name="transpose")
        return collect_named_outputs(outputs_collections, name_scope, outputs)


@add_arg_scope
def spatial_softmax(
    features: TensorLike,
    temperature: TensorLike | None = None,
    name: str | None = None,
    variables_collections: VariableCollections | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> tf.Tensor:
    """Returns the mean position, from -1 to 1, of the softmax over each feature map.

    Args:
      features: The feature maps.
      temperature: Initial value of the variable by which the softmax is divided; None: 1.
      name: Name of the scope.
      variables_collections: Not used, as in TensorFlow 1.
      trainable: Whether the variable is trained.
      data_format: NHWC or NCHW.
    """
    del variables_collections
    features = tf.convert_to_tensor(features)
    is_last = check_data_format(data_format) == "NHWC"
    with _v1.variable_scope(name, "spatial_softmax", [features]):
        maps = tf.transpose(features, [0, 3, 1, 2]) if is_last else features
        sizes = tf.shape(maps)
        channels, height, width = (
            sizes[axis] if maps.shape[axis] is None else maps.shape[axis] for axis in (1, 2, 3)
        )
        initial = 1.0 if temperature is None else temperature
        temperature = model_variable(
            "temperature", (), initializer=_v1.constant_initializer(initial), trainable=trainable
        )
        x, y = tf.meshgrid(tf.linspace(-1.0, 1.0, width), tf.linspace(-1.0, 1.0, height))
        flat = tf.reshape(maps, [-1, height * width])
        attention = tf.nn.softmax(flat / tf.cast(temperature, flat.dtype))
        means = [
            tf.reduce_sum(tf.reshape(tf.cast(place, flat.dtype), [1, -1]) * attention, 1)
            for place in (y, x)
        ]
        points = tf.reshape(tf.stack(means, 1), [-1, channels * 2])
        depth = maps.shape[1]
        points.set_shape([None, None if depth is None else depth * 2])
        return points


def scale_gradient(inputs: TensorLike, gradient_multiplier: TensorLike) -> tf.Tensor:
    """Returns the inputs; their gradients are multiplied."""

    @tf.custom_gradient
    def scale(values: tf.Tensor) -> tuple[tf.Tensor, object]:
        return tf.identity(values), lambda gradient: gradient * gradient_multiplier

    outputs: tf.Tensor = scale(tf.convert_to_tensor(inputs))
    return outputs
