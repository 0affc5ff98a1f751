"""Questions about feature columns of tf.contrib.layers."""

import os
import tempfile

import tensorflow as tf
from asking import main, numbers, question, signature

layers = tf.contrib.layers
WORDS = ["b", "c", "a", "x", "a"]


def words():
    """Three rows: two words, none, three words."""
    indices = [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]
    return tf.SparseTensor(indices, WORDS, [3, 3])


def ids(*values):
    indices = [[0, 0], [0, 1], [2, 0]]
    return tf.SparseTensor(indices, tf.constant(values, tf.int64), [3, 2])


def keys(**arguments):
    return layers.sparse_column_with_keys("words", ["a", "b", "c"], **arguments)


def as_input(tensors, columns, **arguments):
    output = layers.input_from_feature_columns(tensors, columns, **arguments)
    return {"output": output, "shape": str(output.shape)}


@question
def signatures():
    names = "bucketized_column create_feature_spec_for_parsing crossed_column embedding_column "
    names += "input_from_feature_columns one_hot_column real_valued_column "
    names += "sparse_column_with_integerized_feature sparse_column_with_keys "
    names += "sparse_column_with_hash_bucket sparse_column_with_vocabulary_file "
    names += "weighted_sparse_column"
    return {name: signature(getattr(layers, name)) for name in names.split()}


@question
def numbers_alone():
    columns = [layers.real_valued_column("b"), layers.real_valued_column("a", dimension=2)]
    tensors = {"a": tf.constant(numbers(3, 2)), "b": tf.constant(numbers(3, 1, start=9))}
    return as_input(tensors, columns)


@question
def numbers_of_one_dimension():
    return as_input({"a": tf.constant(numbers(3))}, [layers.real_valued_column("a")])


@question
def normalized():
    column = layers.real_valued_column("a", normalizer=lambda x: x * 2.0 + 1.0)
    return as_input({"a": tf.constant(numbers(3, 1))}, [column])


@question
def whole_numbers():
    column = layers.real_valued_column("a", dtype=tf.int64)
    return as_input({"a": tf.constant([[1], [2]], tf.int64)}, [column])


@question
def buckets():
    real = layers.real_valued_column("a")
    column = layers.bucketized_column(real, [-0.2, 0.0, 0.3])
    return as_input({"a": tf.constant(numbers(4, 1))}, [column, real])


@question
def buckets_of_two_dimensions():
    column = layers.bucketized_column(layers.real_valued_column("a", dimension=2), [0.0, 0.3])
    return as_input({"a": tf.constant(numbers(3, 2))}, [column])


@question
def ones_of_keys():
    return as_input({"words": words()}, [layers.one_hot_column(keys())])


@question
def ones_of_keys_with_a_default():
    return as_input({"words": words()}, [layers.one_hot_column(keys(default_value=2))])


@question
def ones_of_numbers():
    column = layers.sparse_column_with_integerized_feature("ids", 4)
    return as_input({"ids": ids(3, 1, 3)}, [layers.one_hot_column(column)])


@question
def ones_of_hashes():
    column = layers.sparse_column_with_hash_bucket("words", 5)
    return as_input({"words": words()}, [layers.one_hot_column(column)])


@question
def ones_of_hashes_of_numbers():
    column = layers.sparse_column_with_hash_bucket("ids", 5, dtype=tf.int64)
    return as_input({"ids": ids(30, 1, 3)}, [layers.one_hot_column(column)])


@question
def ones_of_a_file():
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as f:
        f.write("a\nb\nc\n")
    made = [
        layers.sparse_column_with_vocabulary_file("words", path, vocab_size=3),
        layers.sparse_column_with_vocabulary_file("more", path, 2, vocab_size=3),
    ]
    tensors = {"words": words(), "more": words()}
    return as_input(tensors, [layers.one_hot_column(one) for one in made])


@question
def embedded():
    column = layers.embedding_column(keys(), 2)
    return as_input({"words": words()}, [column], scope="mine")


@question
def embedded_by_other_combiners():
    tensors = {"words": words(), "ids": ids(3, 1, 3)}
    other = layers.sparse_column_with_integerized_feature("ids", 4)
    columns = [
        layers.embedding_column(keys(), 2, combiner="sum"),
        layers.embedding_column(other, 3, combiner="sqrtn"),
    ]
    return as_input(tensors, columns, weight_collections=["mine"])


@question
def embedded_and_not_trained():
    ones = tf.ones_initializer()
    columns = [layers.embedding_column(keys(), 2, initializer=ones)]
    return as_input({"words": words()}, columns, trainable=False)


@question
def crossed():
    hashed = layers.sparse_column_with_hash_bucket("more", 5)
    column = layers.crossed_column([keys(), hashed], 4)
    tensors = {"words": words(), "more": words()}
    made = as_input(tensors, [layers.embedding_column(column, 2)])
    return {"size": tf.shape(made["output"])}


@question
def crossed_of_hashes():
    """Crosses words, as the wide tutorial does."""
    one, two = [layers.sparse_column_with_hash_bucket(name, 5) for name in ("more", "words")]
    column = layers.crossed_column([one, two, keys_of_others()], 40)
    tensors = {"words": words(), "more": words(), "others": words()}
    made = as_input(tensors, [layers.embedding_column(column, 1)])
    return {"size": tf.shape(made["output"]), "empty": made["output"][1]}


def keys_of_others():
    return layers.sparse_column_with_keys("others", ["a", "b", "c"])


@question
def several_in_their_order():
    columns = [
        layers.real_valued_column("z"),
        layers.one_hot_column(keys()),
        layers.embedding_column(layers.sparse_column_with_integerized_feature("ids", 4), 2),
        layers.real_valued_column("a"),
    ]
    tensors = {
        "z": tf.constant(numbers(3, 1)),
        "a": tf.constant(numbers(3, 1, start=5)),
        "words": words(),
        "ids": ids(3, 1, 3),
    }
    return as_input(tensors, columns)


@question
def many_kinds_in_their_order():
    hashed = layers.sparse_column_with_hash_bucket("w", 3)
    columns = [
        layers.one_hot_column(keys()),
        layers.real_valued_column("b"),
        layers.bucketized_column(layers.real_valued_column("z"), [0.0]),
        layers.one_hot_column(layers.sparse_column_with_integerized_feature("ids", 4)),
        layers.one_hot_column(hashed),
        layers.embedding_column(keys(), 2),
        layers.embedding_column(hashed, 1),
        layers.bucketized_column(layers.real_valued_column("b"), [0.0, 1.0]),
    ]
    tensors = {"z": tf.constant(numbers(3, 1)), "b": tf.constant(numbers(3, 1, start=5))}
    return as_input(dict(tensors, words=words(), w=words(), ids=ids(3, 1, 3)), columns)


@question
def weighted():
    column = layers.weighted_sparse_column(keys(), "weights")
    weights = tf.SparseTensor(words().indices, tf.constant([0.5, 1.0, 2.0, 3.0, 0.25]), [3, 3])
    columns = [layers.embedding_column(column, 2)]
    return as_input({"words": words(), "weights": weights}, columns)


@question
def embeddings_twice():
    """Embeds twice; the second call has another scope."""
    columns = [layers.embedding_column(keys(), 2)]
    first = as_input({"words": words()}, columns)["output"]
    with tf.variable_scope("net"):
        second = as_input({"words": words()}, columns)["output"]
        third = as_input({"words": words()}, columns)["output"]
    return {"outputs": [first, second, third]}


@question
def sparse_without_an_embedding():
    return as_input({"words": words()}, [keys()])


@question
def no_columns():
    return as_input({"a": tf.constant(numbers(3, 1))}, [])


@question
def the_same_twice():
    columns = [layers.real_valued_column("a"), layers.real_valued_column("a")]
    return as_input({"a": tf.constant(numbers(3, 1))}, columns)


@question
def specs():
    real = layers.real_valued_column("d", dimension=2, default_value=0.5)
    columns = [
        layers.embedding_column(keys(), 2),
        layers.one_hot_column(layers.sparse_column_with_integerized_feature("ids", 4)),
        layers.real_valued_column("a", dimension=3),
        layers.bucketized_column(layers.real_valued_column("b"), [0.0]),
        real,
    ]
    made = layers.create_feature_spec_for_parsing(columns)
    return {name: described(one) for name, one in sorted(made.items())}


def described(spec):
    parts = [type(spec).__name__, tf.as_dtype(spec.dtype).name]
    if hasattr(spec, "shape"):
        parts += [str(list(spec.shape)), str(spec.default_value and list(spec.default_value))]
    return parts


@question
def parsed():
    example = tf.train.Example()
    example.features.feature["a"].float_list.value.extend([1.0, 2.0])
    example.features.feature["words"].bytes_list.value.extend([b"c", b"a"])
    columns = [layers.real_valued_column("a", dimension=2), layers.one_hot_column(keys())]
    spec = layers.create_feature_spec_for_parsing(columns)
    features = tf.io.parse_example([example.SerializeToString()] * 2, spec)
    return as_input(features, columns)


if __name__ == "__main__":
    main()
