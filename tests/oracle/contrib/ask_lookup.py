"""Questions about tf.contrib.lookup."""

import os
import tempfile

import tensorflow as tf
from asking import main, question, signature

lookup = tf.contrib.lookup
WORDS = ["emerson", "lake", "palmer"]
ASKED = ["palmer", "toad", "emerson", "", "Lake", "king", "crimson"]


def file_of(*lines):
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
    return path


def found(table, keys=ASKED, **more):
    """Returns a table's answers and its public properties."""
    types = [tf.as_dtype(dtype).name for dtype in (table.key_dtype, table.value_dtype)]
    keys = tf.constant(keys) if isinstance(keys, list) else keys
    answers = table.lookup(keys)
    return dict(more, values=answers, size=table.size(), types=types, dtype=answers.dtype.name)


@question
def arguments():
    names = (
        "index_table_from_tensor",
        "index_table_from_file",
        "index_to_string_table_from_tensor",
        "index_to_string_table_from_file",
        "string_to_index",
        "index_to_string",
        "string_to_index_table_from_file",
        "string_to_index_table_from_tensor",
        "IdTableWithHashBuckets",
        "TextFileIdTableInitializer",
        "TextFileStringTableInitializer",
    )
    return {name: signature(getattr(lookup, name)) for name in names}


@question
def from_tensor():
    return found(lookup.index_table_from_tensor(tf.constant(WORDS)))


@question
def from_list_with_default():
    return found(lookup.index_table_from_tensor(WORDS, default_value=7, name="words"))


@question
def from_tensor_with_buckets():
    return found(lookup.index_table_from_tensor(WORDS, num_oov_buckets=5))


@question
def from_tensor_by_position():
    return found(lookup.index_table_from_tensor(WORDS, 0, 9))


@question
def strong_hash():
    spec = lookup.StrongHashSpec([3, 5])
    return found(lookup.index_table_from_tensor(WORDS, num_oov_buckets=5, hasher_spec=spec))


@question
def fast_hash():
    spec = lookup.FastHashSpec
    return found(lookup.index_table_from_tensor(WORDS, num_oov_buckets=5, hasher_spec=spec))


@question
def of_integers():
    table = lookup.index_table_from_tensor([10, 30, 20], dtype=tf.int64)
    return found(table, tf.constant([20, 11, 10], tf.int64))


@question
def of_small_integers():
    table = lookup.index_table_from_tensor([10, 30, 20], dtype=tf.int32)
    return found(table, tf.constant([20, 11, 10], tf.int32))


@question
def of_small_integers_with_buckets():
    table = lookup.index_table_from_tensor([10, 30, 20], num_oov_buckets=3, dtype=tf.int32)
    return found(table, tf.constant([20, 11, 10, 12, 13], tf.int32))


@question
def of_sparse_keys():
    table = lookup.index_table_from_tensor(WORDS)
    keys = tf.SparseTensor([[0, 1], [2, 0]], ["lake", "toad"], [3, 2])
    answers = table.lookup(keys)
    return {"values": answers.values, "indices": answers.indices, "shape": answers.dense_shape}


@question
def of_sparse_keys_with_buckets():
    table = lookup.index_table_from_tensor(WORDS, num_oov_buckets=2)
    keys = tf.SparseTensor([[0, 1], [2, 0]], ["lake", "toad"], [3, 2])
    answers = table.lookup(keys)
    return {"values": answers.values, "indices": answers.indices, "shape": answers.dense_shape}


@question
def from_file():
    return found(lookup.index_table_from_file(file_of(*WORDS)))


@question
def from_file_with_buckets():
    return found(lookup.index_table_from_file(file_of(*WORDS), num_oov_buckets=4))


@question
def from_the_first_lines():
    return found(lookup.index_table_from_file(file_of(*WORDS), vocab_size=2, default_value=5))


@question
def from_fewer_lines_than_said():
    return found(lookup.index_table_from_file(file_of(*WORDS), vocab_size=5))


@question
def from_fewer_lines_than_said_with_buckets():
    return found(lookup.index_table_from_file(file_of(*WORDS), vocab_size=5, num_oov_buckets=2))


@question
def from_a_file_of_columns():
    lines = ["7,palmer", "5,emerson"]
    table = lookup.index_table_from_file(
        file_of(*lines), key_column_index=1, value_column_index=0, delimiter=","
    )
    return found(table)


@question
def from_a_file_of_integers():
    table = lookup.index_table_from_file(file_of("10", "30", "20"), key_dtype=tf.int64)
    return found(table, tf.constant([20, 11, 10], tf.int64))


@question
def from_a_file_of_integers_with_buckets():
    table = lookup.index_table_from_file(
        file_of("10", "30", "20"), num_oov_buckets=2, key_dtype=tf.int32
    )
    return found(table, tf.constant([20, 11, 10, 12], tf.int32))


@question
def to_string():
    table = lookup.index_to_string_table_from_tensor(tf.constant(WORDS))
    return found(table, tf.constant([2, 5, 0, -1], tf.int64))


@question
def to_string_from_file():
    table = lookup.index_to_string_table_from_file(file_of(*WORDS), default_value="?")
    return found(table, tf.constant([2, 5, 0, -1], tf.int64))


@question
def to_string_from_the_first_lines():
    table = lookup.index_to_string_table_from_file(file_of(*WORDS), vocab_size=2)
    return found(table, tf.constant([2, 1, 0, -1], tf.int64))


@question
def to_string_from_columns():
    table = lookup.index_to_string_table_from_file(
        file_of("7 palmer", "5 emerson"), key_column_index=0, value_column_index=1, delimiter=" "
    )
    return found(table, tf.constant([7, 5, 0], tf.int64))


@question
def without_a_table():
    return {
        "index": lookup.string_to_index(tf.constant(ASKED), tf.constant(WORDS), default_value=4),
        "string": lookup.index_to_string(tf.constant([1, 8], tf.int64), tf.constant(WORDS)),
    }


@question
def by_the_oldest_names():
    of_file = lookup.string_to_index_table_from_file(file_of(*WORDS), num_oov_buckets=1)
    of_tensor = lookup.string_to_index_table_from_tensor(WORDS, default_value=3)
    return [found(of_file), found(of_tensor)]


@question
def hash_table():
    initializer = lookup.KeyValueTensorInitializer(["a", "b"], [1.5, 2.5])
    return found(lookup.HashTable(initializer, -1.0), ["b", "c"])


@question
def hash_table_of_types():
    initializer = lookup.KeyValueTensorInitializer([1, 2], [3, 4], tf.int64, tf.int64)
    return found(lookup.HashTable(initializer, 0), tf.constant([2, 3], tf.int64))


@question
def hash_table_with_initializers_of_files():
    path = file_of(*WORDS)
    index = lookup.HashTable(lookup.TextFileIdTableInitializer(path), -1)
    back = lookup.HashTable(lookup.TextFileStringTableInitializer(path), "?")
    return [found(index), found(back, tf.constant([1, 3], tf.int64))]


@question
def hash_buckets_on_a_table():
    inner = lookup.HashTable(lookup.TextFileIdTableInitializer(file_of(*WORDS)), -1)
    return found(lookup.IdTableWithHashBuckets(inner, 4))


@question
def hash_buckets_alone():
    return found(lookup.IdTableWithHashBuckets(None, 4))


@question
def mutable_table():
    table = lookup.MutableHashTable(tf.string, tf.int64, -1)
    insert = table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
    remove = table.remove(tf.constant(["a"]))
    answers = {"values": table.lookup(tf.constant(["a", "c", "b"])), "size": table.size()}
    return [answers, {"op": insert}, answers, {"op": remove}, answers, {"all": table.export()}]


@question
def mutable_table_of_vectors():
    table = lookup.MutableHashTable(tf.int64, tf.float32, [0.5, -1.0])
    insert = table.insert(tf.constant([3], tf.int64), tf.constant([[1.0, 2.0]]))
    return [{"op": insert}, {"values": table.lookup(tf.constant([3, 4], tf.int64))}]


@question
def mutable_dense_table():
    table = lookup.MutableDenseHashTable(
        tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-7
    )
    insert = table.insert(tf.constant([3, 5], tf.int64), tf.constant([1, 2], tf.int64))
    answers = {"values": table.lookup(tf.constant([3, 4, 5], tf.int64)), "size": table.size()}
    return [{"op": insert}, answers, {"op": table.remove(tf.constant([3], tf.int64))}, answers]


@question
def initializers_are_collected():
    lookup.index_table_from_tensor(WORDS)
    lookup.index_table_from_file(file_of(*WORDS), num_oov_buckets=3)
    lookup.index_to_string_table_from_tensor(WORDS)
    return {"count": len(tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS))}


@question
def files_are_assets():
    lookup.index_table_from_file(file_of(*WORDS))
    names = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
    return {"count": len(names)}


@question
def initializers_of_tables():
    initializer = lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    table = lookup.HashTable(initializer, -1, None, "words")
    with_buckets = lookup.index_table_from_tensor(WORDS, 2)
    tables = {"init": table.init, "initializer": table.initializer}
    return dict(tables, of_both=with_buckets.init, of_buckets=with_buckets.initializer)


@question
def tables_in_maps():
    table = lookup.index_table_from_tensor(WORDS, num_oov_buckets=2)
    dataset = tf.data.Dataset.from_tensor_slices(ASKED).map(table.lookup).batch(9)
    iterator = tf.data.make_initializable_iterator(dataset)
    return [{"op": iterator.initializer}, {"values": iterator.get_next()}]


@question
def hash_with_a_wrong_key():
    return {"spec": lookup.StrongHashSpec([1])}


@question
def hash_with_a_key_of_words():
    return {"spec": lookup.StrongHashSpec(["a", "b"])}


@question
def hash_without_a_table_of_integers():
    table = lookup.IdTableWithHashBuckets(None, 4, key_dtype=tf.int64)
    return {"values": table.lookup(tf.constant([1, 2, 3], tf.int64)), "size": table.size()}


@question
def no_mapping():
    return found(lookup.index_table_from_tensor(None))


@question
def no_strings():
    return found(lookup.index_to_string_table_from_tensor(None))


@question
def no_file():
    return found(lookup.index_table_from_file(None))


@question
def no_file_of_strings():
    return found(lookup.index_to_string_table_from_file(""))


@question
def negative_buckets():
    return found(lookup.index_table_from_tensor(WORDS, num_oov_buckets=-1))


@question
def negative_buckets_of_a_file():
    return found(lookup.index_table_from_file(file_of(*WORDS), num_oov_buckets=-1))


@question
def no_lines():
    return found(lookup.index_table_from_file(file_of(*WORDS), vocab_size=0))


@question
def no_lines_of_strings():
    return found(lookup.index_to_string_table_from_file(file_of(*WORDS), vocab_size=0))


@question
def keys_of_floats():
    return found(lookup.index_table_from_tensor([0.5, 1.5], dtype=tf.float32))


@question
def words_as_integers():
    return found(lookup.index_table_from_tensor(WORDS, dtype=tf.int64))


@question
def file_keys_of_floats():
    return found(lookup.index_table_from_file(file_of("1.5"), key_dtype=tf.float32))


@question
def lookup_of_other_types():
    return found(lookup.index_table_from_tensor(WORDS), tf.constant([1, 2]))


@question
def file_that_is_not_there():
    return found(lookup.index_table_from_file("/nowhere/words.txt"))


if __name__ == "__main__":
    main()
