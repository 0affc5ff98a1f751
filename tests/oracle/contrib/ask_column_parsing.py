"""Questions about parsing and transforming with feature columns of tf.contrib.layers."""

import tensorflow as tf
from asking import differs, main, numbers, question, signature
from trying import tried

layers = tf.contrib.layers
KEYS = ["a", "b", "c"]


def columns():
    plain = layers.real_valued_column("n", dimension=2)
    keys = layers.sparse_column_with_keys("k", KEYS)
    hashed = layers.sparse_column_with_hash_bucket("h", 5)
    return {
        "n": plain,
        "k": keys,
        "h": hashed,
        "i": layers.sparse_column_with_integerized_feature("i", 4),
        "bucketized": layers.bucketized_column(layers.real_valued_column("b"), [0.0, 1.0]),
        "embedded": layers.embedding_column(keys, 2),
        "one_hot": layers.one_hot_column(keys),
        "crossed": layers.crossed_column([keys, hashed], 7),
    }


def examples():
    made = []
    for words, number in (([b"c", b"a"], 1.5), ([b"x"], -1.0)):
        feature = tf.train.Example().features.feature
        feature["k"].bytes_list.value.extend(words)
        feature["h"].bytes_list.value.extend(words[:1])
        feature["n"].float_list.value.extend([number, number + 1.0])
        feature["b"].float_list.value.extend([number])
        feature["i"].int64_list.value.extend([3])
        made.append(tf.train.Example(features=tf.train.Features(feature=feature)))
    return [one.SerializeToString() for one in made]


def named(tensors):
    """Names the columns and features of a dict by their names and types."""
    return {
        getattr(key, "name", key) + ": " + kind(tensor): tensor for key, tensor in tensors.items()
    }


def kind(tensor):
    return "sparse" if isinstance(tensor, tf.SparseTensor) else "dense"


def chosen(*names):
    every = columns()
    return [every[name] for name in names]


@question
def signatures():
    names = "check_feature_columns infer_real_valued_columns "
    names += "joint_weighted_sum_from_feature_columns make_place_holder_tensors_for_base_features "
    names += "parse_feature_columns_from_examples parse_feature_columns_from_sequence_examples "
    names += "sequence_input_from_feature_columns shared_embedding_columns transform_features"
    return {name: signature(getattr(layers, name)) for name in names.split()}


@question
def parsed_examples():
    parsed = layers.parse_feature_columns_from_examples(
        examples(), chosen("n", "k", "i", "bucketized")
    )
    return named(parsed)


@question
def parsed_embedding_and_cross():
    parsed = layers.parse_feature_columns_from_examples(
        examples(), chosen("embedded", "crossed", "h")
    )
    return {name: tf.shape(one.values) for name, one in named(parsed).items()}


@question
def input_of_parsed_examples():
    used = chosen("n", "embedded", "one_hot", "bucketized")
    parsed = layers.parse_feature_columns_from_examples(examples(), used)
    return {"input": layers.input_from_feature_columns(parsed, used)}


@question
def sum_of_parsed_examples():
    used = chosen("n", "k", "i", "bucketized")
    parsed = layers.parse_feature_columns_from_examples(examples(), used)
    return {"sum": layers.weighted_sum_from_feature_columns(parsed, used, 2)[0]}


@question
def transformed():
    features = {
        "n": tf.constant(numbers(2, 2)),
        "b": tf.constant(numbers(2, 1)),
        "k": tf.SparseTensor([[0, 0], [1, 0]], ["c", "x"], [2, 1]),
        "i": tf.SparseTensor([[0, 0], [1, 1]], tf.constant([3, 1], tf.int64), [2, 2]),
    }
    return named(layers.transform_features(features, chosen("n", "k", "i", "bucketized")))


def crossed_ids(**arguments):
    """Returns the ids of crosses of words, of known words and of buckets."""
    hashed, known, buckets = chosen("h", "k", "bucketized")
    second = layers.sparse_column_with_hash_bucket("a", 7)
    crosses = [
        layers.crossed_column(pair, 1000, **arguments)
        for pair in ([hashed, second], [known, hashed], [buckets, hashed])
    ]
    rows = [[0, 0], [1, 0], [2, 0]]
    features = {
        "h": tf.SparseTensor(rows, ["x", "y", "z"], [3, 1]),
        "k": tf.SparseTensor(rows, ["b", "c", "a"], [3, 1]),
        "a": tf.SparseTensor(rows, ["u", "v", "w"], [3, 1]),
        "b": tf.constant([[-1.0], [0.5], [2.0]]),
    }
    transformed_features = layers.transform_features(features, crosses)
    return {one.name: transformed_features[one].values for one in crosses}


@question
def crossed_by_a_hash_key():
    return crossed_ids(hash_key=123)


@differs("TensorFlow 2 has no operation of the hash that crosses had without a key")
@question
def crossed_without_a_hash_key():
    return crossed_ids()


def sequence_example():
    context = tf.train.Features()
    context.feature["n"].float_list.value.extend([1.0, 2.0])
    context.feature["i"].int64_list.value.extend([2])
    lists = tf.train.FeatureLists()
    for words, number in (([b"c", b"a"], 1.5), ([b"x"], -1.0), ([b"b"], 0.5)):
        lists.feature_list["k"].feature.add().bytes_list.value.extend(words)
        lists.feature_list["b"].feature.add().float_list.value.extend([number])
    return tf.train.SequenceExample(context=context, feature_lists=lists).SerializeToString()


@question
def parsed_sequence_example():
    context, sequence = layers.parse_feature_columns_from_sequence_examples(
        tf.constant(sequence_example()),
        context_feature_columns=chosen("n", "i"),
        sequence_feature_columns=[*chosen("k"), layers.real_valued_column("b")],
    )
    return {"context": repr(sorted(named(context))), "sequence": repr(sorted(named(sequence))),
            **named(context), **named(sequence)}  # fmt: skip


@question
def parsed_sequence_without_context():
    context, sequence = layers.parse_feature_columns_from_sequence_examples(
        tf.constant(sequence_example()), None, chosen("k")
    )
    return {"context": repr(sorted(context)), **named(sequence)}


def sequence_features():
    rows = [[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]]
    return {
        "n": tf.constant(numbers(2, 3, 2)),
        "b": tf.constant(numbers(2, 3, 1)),
        "k": tf.SparseTensor(rows, ["c", "a", "b", "x"], [2, 3, 2]),
    }


@question
def sequence_of_numbers():
    output = layers.sequence_input_from_feature_columns(sequence_features(), chosen("n"))
    return {"output": output, "shape": str(output.shape)}


@question
def sequence_of_words():
    used = chosen("n", "embedded")
    return {"output": layers.sequence_input_from_feature_columns(sequence_features(), used)}


@question
def sequence_of_one_hot_words():
    used = chosen("one_hot", "n")
    return {"output": layers.sequence_input_from_feature_columns(sequence_features(), used)}


@question
def sequence_in_a_scope():
    output = layers.sequence_input_from_feature_columns(
        sequence_features(), chosen("embedded"), weight_collections=["mine"], scope="own"
    )
    return {"output": output, "mine": repr([one.op.name for one in tf.get_collection("mine")])}


def sparse_features():
    return {
        "k": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2]),
        "i": tf.SparseTensor([[0, 0], [1, 0]], tf.constant([3, 0], tf.int64), [2, 1]),
    }


@question
def joint_sum():
    total, weights, bias = layers.joint_weighted_sum_from_feature_columns(
        sparse_features(), chosen("k", "i"), 2
    )
    return {"total": total, "bias": bias, "names": repr([one.op.name for one in weights])}


@question
def joint_sum_of_an_unknown_word():
    words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["x", "b", "c"], [2, 2])
    features = dict(sparse_features(), k=words)
    total, _, _ = layers.joint_weighted_sum_from_feature_columns(features, chosen("i", "k"), 1)
    return {"total": total}


@question
def joint_sum_of_wrong_columns():
    of = layers.joint_weighted_sum_from_feature_columns
    features = dict(sparse_features(), n=tf.constant(numbers(2, 2)))
    return {
        "numbers": tried(of, features, chosen("n"), 1),
        "embedded": tried(of, features, chosen("embedded"), 1),
    }


@question
def joint_sum_in_another_order_and_scope():
    total, _, _ = layers.joint_weighted_sum_from_feature_columns(
        sparse_features(), chosen("i", "k"), 1, scope="own", weight_collections=["mine"]
    )
    return {"total": total, "mine": repr(sorted(v.op.name for v in tf.get_collection("mine")))}


@question
def joint_sum_of_one_column():
    total, _, bias = layers.joint_weighted_sum_from_feature_columns(
        sparse_features(), chosen("i"), 1, trainable=False
    )
    return {"total": total, "bias": bias}


@question
def inferred():
    features = {"b": tf.constant(numbers(3, 2)), "a": tf.constant([[1], [2]], tf.int64)}
    made = layers.infer_real_valued_columns(features)
    return {"columns": repr([(one.name, list(create(one))) for one in made])}


def create(column):
    spec = layers.create_feature_spec_for_parsing([column])[column.name]
    return [int(size) for size in spec.shape] + [tf.as_dtype(spec.dtype).name]


@question
def inferred_of_a_tensor():
    (made,) = layers.infer_real_valued_columns(tf.constant(numbers(3, 4)))
    spec = layers.create_feature_spec_for_parsing([made])
    return {"specs": repr([(list(one.shape), one.dtype.name) for one in spec.values()])}


@question
def inferred_of_wrong_features():
    return {
        "sparse": tried(layers.infer_real_valued_columns, sparse_features()["k"]),
        "strings": tried(layers.infer_real_valued_columns, {"a": tf.constant([["x"]])}),
    }


@question
def place_holders():
    made = layers.make_place_holder_tensors_for_base_features(chosen("n", "k", "i", "bucketized"))
    kinds = {name: (kind(one), one.dtype.name, str(one.shape)) for name, one in made.items()}
    return {"kinds": repr(sorted(kinds.items()))}


@question
def checked_columns():
    once = chosen("n")
    return {
        "good": tried(layers.check_feature_columns, chosen("n", "k")),
        "twice": tried(layers.check_feature_columns, [*once, *once]),
    }


@differs("TensorFlow 2 names the collection of a shared embedding without a prefix")
@question
def shared_embeddings():
    other = layers.sparse_column_with_keys("o", KEYS)
    made = layers.shared_embedding_columns([*chosen("k"), other], 2, combiner="sum")
    words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    others = tf.SparseTensor([[0, 0], [1, 0]], ["c", "a"], [2, 1])
    output = layers.input_from_feature_columns({"k": words, "o": others}, made)
    return {"output": output, "count": len(made)}


@differs("TensorFlow 2 names the collection of a shared embedding without a prefix")
@question
def shared_embeddings_of_a_name():
    other = layers.sparse_column_with_keys("o", KEYS)
    made = layers.shared_embedding_columns([*chosen("k"), other], 3, shared_embedding_name="both")
    words = tf.SparseTensor([[0, 0], [1, 0]], ["a", "c"], [2, 2])
    return {"output": layers.input_from_feature_columns({"k": words, "o": words}, made)}


@question
def shared_embeddings_of_wrong_columns():
    fewer = layers.sparse_column_with_keys("o", KEYS[:2])
    return {
        "sizes": tried(layers.shared_embedding_columns, [*chosen("k"), fewer], 2),
        "none": tried(layers.shared_embedding_columns, [], 2),
        "names": tried(layers.shared_embedding_columns, "ab", 2),
    }


if __name__ == "__main__":
    main()
