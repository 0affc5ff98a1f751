"""Dense layers of `tf.contrib.layers`, and what else is not about pictures."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.building import (
    collected,
    finished,
    layer_scope,
    layer_variable,
)
from estimator_train.legacy.contrib.layers.initializers import xavier_initializer

_v1 = tf.compat.v1
_ZEROS = _v1.zeros_initializer()


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """A dense layer on the last dimension; its variables are `weights` and `biases`.

    Args:
      inputs: A tensor of rank 2 or more.
      num_outputs: Size of the last dimension of the output.
      activation_fn: Of the output, or None.
      normalizer_fn: Used instead of biases.
      normalizer_params: Its arguments.
      weights_initializer: By default xavier_initializer().
      weights_regularizer: Of the weights.
      biases_initializer: Of the biases; None: there are none.
      biases_regularizer: Of the biases.
      reuse: Whether the layer's variables are there already.
      variables_collections: Collections for the variables.
      outputs_collections: Collections for the output.
      trainable: Whether the variables are trained.
      scope: The layer's name.
    """
    inputs = tf.convert_to_tensor(inputs)
    dtype = inputs.dtype.base_dtype
    variable = functools.partial(
        layer_variable, dtype=dtype, trainable=trainable, collections=variables_collections
    )
    with layer_scope(scope, "fully_connected", inputs, reuse):
        weights = variable(
            "weights",
            [inputs.shape[-1], num_outputs],
            initializer=weights_initializer or xavier_initializer(),
            regularizer=weights_regularizer,
        )
        outputs = tf.tensordot(inputs, weights, 1) if inputs.shape.rank > 2 else inputs @ weights
        bias = None
        if normalizer_fn is None and biases_initializer is not None:
            biases = variable(
                "biases",
                [num_outputs],
                initializer=biases_initializer,
                regularizer=biases_regularizer,
            )
            bias = functools.partial(tf.nn.bias_add, bias=biases)
        return finished(
            outputs, normalizer_fn, normalizer_params, bias, activation_fn, outputs_collections
        )


relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = _ZEROS,
    regularizer: Any = None,
    reuse: Any = None,
    trainable: bool = True,
    scope: Any = None,
    **unused: Any,
) -> tf.Tensor:
    """Adds a bias to the last dimension."""
    with layer_scope(scope, "BiasAdd", inputs, reuse):
        biases = layer_variable(
            "biases",
            [inputs.shape[-1]],
            inputs.dtype.base_dtype,
            initializer,
            regularizer,
            trainable,
        )
        outputs = tf.nn.bias_add(inputs, biases)
        return activation_fn(outputs) if activation_fn else outputs


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> tf.Tensor:
    """Sets a share of 1 - keep_prob of the values to zero in training, and scales the rest."""
    with tf.name_scope(scope or "Dropout"):
        if isinstance(is_training, tf.Tensor):
            dropped = tf.cond(
                is_training,
                lambda: _v1.nn.dropout(inputs, keep_prob, noise_shape, seed),
                lambda: tf.identity(inputs),
            )
        elif is_training:
            dropped = _v1.nn.dropout(inputs, keep_prob, noise_shape, seed)
        else:
            dropped = tf.identity(inputs)
        return collected(dropped, outputs_collections)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> tf.Tensor:
    """All dimensions but the first as one."""
    inputs = tf.convert_to_tensor(inputs)
    size = inputs.shape[1:].num_elements()
    with tf.name_scope(scope or "Flatten"):
        known = -1 if size is None else size
        rows = tf.shape(inputs)[0] if size is None else -1
        return collected(tf.reshape(inputs, [rows, known]), outputs_collections)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> tf.Tensor:
    """Softmax over the last dimension."""
    return tf.nn.softmax(logits, name=scope)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> tf.Tensor:
    """Class numbers as vectors with a one."""
    encoded = tf.one_hot(tf.cast(labels, tf.int64), num_classes, on_value, off_value, name=scope)
    return collected(encoded, outputs_collections)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> tf.Tensor:
    """Scales along a dimension to length one."""
    length = tf.sqrt(tf.reduce_sum(tf.square(inputs), dim, keepdims=True) + epsilon)
    return tf.divide(inputs, length, name=scope)


def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Calls a layer several times, one upon the other, in scopes `scope/scope_1` and so on."""
    scope = kwargs.pop("scope", None)
    with _v1.variable_scope(scope, "Repeat", [inputs]):
        name = scope or getattr(layer, "__name__", "repeat")
        for number in range(repetitions):
            inputs = layer(inputs, *args, scope=f"{name}_{number + 1}", **kwargs)
    return inputs


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """Calls a layer once for each of several arguments, one upon the other.

    Args:
      inputs: The first input.
      layer: The layer.
      stack_args: Its arguments, a list or tuple or one, for each call.
      **kwargs: Further arguments of all calls.
    """
    scope = kwargs.pop("scope", None)
    with _v1.variable_scope(scope, "Stack", [inputs]):
        name = scope or getattr(layer, "__name__", "stack")
        for number, given in enumerate(stack_args):
            given = given if isinstance(given, (list, tuple)) else [given]
            inputs = layer(inputs, *given, scope=f"{name}_{number + 1}", **kwargs)
    return inputs


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> tf.Tensor:
    """Vectors for numbers, from a variable `embeddings` of shape (vocab_size, embed_dim)."""
    del unique
    with layer_scope(scope, "EmbedSequence", ids, reuse):
        embeddings = layer_variable(
            "embeddings", [vocab_size, embed_dim], tf.float32, initializer, regularizer, trainable
        )
        return tf.nn.embedding_lookup(embeddings, ids)


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> tf.Tensor:
    """The mean of the vectors of the numbers in a row; see `embed_sequence`."""
    del sparse_lookup
    vectors = embed_sequence(
        ids, vocab_size, embed_dim, False, initializer, regularizer, trainable, scope, reuse
    )
    return tf.reduce_mean(vectors, 1)
