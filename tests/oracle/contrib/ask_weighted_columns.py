"""Questions about the weighted sums of feature columns of tf.contrib.layers."""

import tensorflow as tf
from asking import main, question
from trying import tried

layers = tf.contrib.layers


def columns():
    plain = layers.real_valued_column("b")
    keys = layers.sparse_column_with_keys("k", ["x", "y", "z"])
    hashed = layers.sparse_column_with_hash_bucket("h", 5)
    return {
        "a": layers.real_valued_column("a", dimension=2),
        "b": plain,
        "k": keys,
        "h": hashed,
        "i": layers.sparse_column_with_integerized_feature("i", 4),
        "bucketized": layers.bucketized_column(plain, [0.0, 1.0]),
        "crossed": layers.crossed_column([keys, hashed], 7),
    }


def features():
    return {
        "a": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        "b": tf.constant([[0.5], [2.0]]),
        "k": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["x", "y", "z"], [2, 2]),
        "h": tf.SparseTensor([[0, 0], [1, 0]], ["u", "v"], [2, 1]),
        "i": tf.SparseTensor([[0, 0], [1, 0]], tf.constant([3, 0], tf.int64), [2, 1]),
    }


def asked(of, names, **named):
    every = columns()
    total, by_column, bias = of(features(), [every[name] for name in names], **named)
    names = {
        column.name: repr([one.op.name for one in weights]) if weights else repr(weights)
        for column, weights in by_column.items()
    }
    return {"total": total, "bias": bias, "names": repr(sorted(names.items()))}


def summed(*names, **named):
    return asked(layers.weighted_sum_from_feature_columns, names, **dict(num_outputs=2, **named))


@question
def numbers_of_two_columns():
    return summed("a", "b")


@question
def sparse_columns():
    return summed("k", "i")


@question
def one_hashed_column():
    return summed("h")


@question
def all_columns_but_crossed():
    return summed("a", "b", "k", "i", "bucketized")


@question
def in_a_scope_and_a_collection():
    total = summed("a", "k", scope="own", weight_collections=["mine"])
    return dict(total, mine=repr(sorted(one.op.name for one in tf.get_collection("mine"))))


@question
def untrained():
    return summed("a", trainable=False)


@question
def twice_in_one_scope():
    with tf.variable_scope("outer"):
        first = summed("a")
    with tf.variable_scope("outer", reuse=True):
        second = summed("a")
    return {"first": first["total"], "second": second["total"]}


@question
def in_parts():
    every = columns()
    with tf.variable_scope("outer", partitioner=tf.fixed_size_partitioner(2)):
        total, by_column, bias = layers.weighted_sum_from_feature_columns(
            features(), [every["a"], every["i"]], 2
        )
    kinds = sorted((one.name, [type(w).__name__ for w in by_column[one]]) for one in by_column)
    return {"total": total, "kinds": repr(kinds), "bias": type(bias).__name__}


@question
def wrong_columns():
    every = columns()
    embedded = layers.embedding_column(every["k"], 2)
    of = layers.weighted_sum_from_feature_columns
    return {
        "embedded": tried(of, features(), [embedded], 2),
        "same": tried(of, features(), [every["a"], every["a"]], 2),
    }


if __name__ == "__main__":
    main()
