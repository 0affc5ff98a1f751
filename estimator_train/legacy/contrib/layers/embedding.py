"""Embeddings of `tf.contrib.layers`."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.layers.building import layer_scope, layer_variable

_v1 = tf.compat.v1


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
    """Vectors for numbers, from a variable `embeddings` of shape (vocab_size, embed_dim).

    Raises:
      ValueError: The variable has to be made, and one of the sizes is missing.
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
    """The mean of the vectors of the numbers in a row; see `embed_sequence`.

    ids have a row for each example. With sparse_lookup zeros are left out, as they fill the rows.
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
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> tf.Tensor:
    """Vectors for numbers, each of which is looked up once; see `tf.nn.embedding_lookup`."""
    with tf.name_scope(name or "EmbeddingLookupUnique"):
        ids = tf.convert_to_tensor(ids)
        unique, places = tf.unique(tf.reshape(ids, [-1]))
        rows = tf.gather(_v1.nn.embedding_lookup(params, unique, partition_strategy), places)
        found = tf.reshape(rows, tf.concat([tf.shape(ids), tf.shape(rows)[1:]], 0))
        found.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return found


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: tf.SparseTensor,
    sparse_weights: tf.SparseTensor | None = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> tf.Tensor:
    """See `tf.nn.safe_embedding_lookup_sparse`; the combiner is the mean by default."""
    combiner = combiner or "mean"
    return _v1.nn.safe_embedding_lookup_sparse(**locals())
