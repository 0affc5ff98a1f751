"""Embeddings of `tf.contrib.layers`."""

import tensorflow as tf

from tf_contrib._types import Initializer, Regularizer, Scope, TensorLike
from tf_contrib.layers.building import layer_scope, layer_variable

_v1 = tf.compat.v1


def embed_sequence(
    ids: TensorLike | tf.SparseTensor,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
    reuse: bool | None = None,
) -> tf.Tensor:
    """Embeds ids with the variable `embeddings` of shape (vocab_size, embed_dim).

    Raises:
      ValueError: vocab_size or embed_dim is missing, and the variable is not reused.
    """
    del unique
    if not reuse and (vocab_size is None or embed_dim is None):
        raise ValueError(f"Must specify vocab size and embedding dimension: {vocab_size}, "
                         f"{embed_dim}")  # fmt: skip
    with layer_scope(scope, "EmbedSequence", ids, reuse):
        embeddings = layer_variable(
            "embeddings", [vocab_size, embed_dim], tf.float32, initializer, regularizer, trainable
        )
        return tf.nn.embedding_lookup(embeddings, ids)


def bow_encoder(
    ids: TensorLike | tf.SparseTensor,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
    reuse: bool | None = None,
) -> tf.Tensor:
    """Returns the mean embedding of the ids of each row; see `embed_sequence`.

    With sparse_lookup, zeros are treated as padding and ignored.
    """
    with layer_scope(scope, "bow_encoder", ids, reuse):
        embeddings = layer_variable(
            "embeddings", [vocab_size, embed_dim], tf.float32, initializer, regularizer, trainable
        )
        if not sparse_lookup:
            return tf.reduce_mean(tf.nn.embedding_lookup(embeddings, ids), 1)
        ids = ids if isinstance(ids, tf.SparseTensor) else tf.sparse.from_dense(ids)
        return tf.nn.embedding_lookup_sparse(embeddings, ids, None, combiner="mean")


def embedding_lookup_unique(
    params: TensorLike,
    ids: TensorLike | tf.SparseTensor,
    partition_strategy: str = "mod",
    name: str | None = None,
) -> tf.Tensor:
    """Embeds ids, looking up each distinct id once; see `tf.nn.embedding_lookup`."""
    with tf.name_scope(name or "EmbeddingLookupUnique"):
        ids = tf.convert_to_tensor(ids)
        unique, places = tf.unique(tf.reshape(ids, [-1]))
        rows = tf.gather(_v1.nn.embedding_lookup(params, unique, partition_strategy), places)
        embedded = tf.reshape(rows, tf.concat([tf.shape(ids), tf.shape(rows)[1:]], 0))
        embedded.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return embedded


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: tf.SparseTensor,
    sparse_weights: tf.SparseTensor | None = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> tf.Tensor:
    """Embeds sparse ids, by default their mean; see `tf.nn.safe_embedding_lookup_sparse`."""
    combiner = combiner or "mean"
    return _v1.nn.safe_embedding_lookup_sparse(**locals())
