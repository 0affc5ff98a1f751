"""Questions about how tf.contrib.learn reads batches of examples from files."""

import os
import tempfile

import tensorflow as tf
from asking import main, question, signature
from draining import drained
from trying import tried

learn = tf.contrib.learn
NAMES = [
    "read_batch_examples", "read_batch_features", "read_batch_record_features",
    "read_keyed_batch_examples", "read_keyed_batch_examples_shared_queue",
    "read_keyed_batch_features", "read_keyed_batch_features_shared_queue",
]  # fmt: skip
FEATURES = {
    "number": tf.io.FixedLenFeature([], tf.int64),
    "words": tf.io.VarLenFeature(tf.string),
}


def example(number):
    features = {
        "number": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
        "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"] * (number % 3))),
    }
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def folder_of(**files):
    """Writes files of lines, or of examples for lists of numbers; returns their pattern."""
    folder = tempfile.mkdtemp()
    for name, records in files.items():
        path = os.path.join(folder, name)
        if isinstance(records, str):
            with open(path, "w") as f:
                f.write(records)
        else:
            with tf.io.TFRecordWriter(path) as writer:
                for record in records:
                    writer.write(example(record))
    return os.path.join(folder, "*")


def lines(**arguments):
    pattern = folder_of(a="1\n2\n3\n", b="4\n5\n")
    given = {"reader": tf.TextLineReader, "num_epochs": 1, "randomize_input": False}
    return learn.io.read_batch_examples(pattern, **dict(given, **arguments))


def kept(graph):
    """Returns what a reader leaves in the public collections."""
    names = [one.name for one in graph.get_collection("local_variables")]
    return {
        "locals": repr([name.rpartition("/")[2] for name in names]),
        "summaries": len(graph.get_collection(tf.GraphKeys.SUMMARIES)),
        "runners": len(graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS)),
    }


@question
def signatures():
    return {name: signature(getattr(learn.io, name)) for name in NAMES}


@question
def names():
    return {name: getattr(learn, name) is getattr(learn.io, name) for name in NAMES}


@question
def batches_of_lines():
    batch = lines(batch_size=2)
    seen, end = drained(batch, 3)
    graph = tf.get_default_graph()
    return dict(
        kept(graph), seen=repr([list(one) for one in seen]), end=end, shape=str(batch.shape)
    )


@question
def one_batch_that_is_larger():
    seen, end = drained(lines(batch_size=7), 1)
    return {"seen": list(seen[0]), "end": end}


@question
def shuffled_lines():
    batch = lines(batch_size=2, num_epochs=2, randomize_input=True, seed=3)
    seen, end = drained(batch, 5)
    return {"seen": sorted(line for one in seen for line in one), "end": end}


@question
def lines_read_together():
    seen, end = drained(lines(batch_size=2, read_batch_size=3), 3)
    return {"seen": sorted(line for one in seen for line in one), "end": end}


@question
def parsed_lines():
    batch = lines(batch_size=2, parse_fn=lambda line: tf.strings.join(["<", line, ">"]))
    seen, end = drained(batch, 3)
    return {"seen": repr([list(one) for one in seen]), "end": end, "shape": str(batch.shape)}


@question
def parsed_to_a_dict():
    def parse(line):
        number = tf.string_to_number(line, tf.int32)
        return {"n": number, "twice": number * 2, "rank": tf.rank(line)}

    batch = lines(batch_size=2, parse_fn=parse)
    seen, end = drained(batch, 3)
    return {
        "seen": repr(
            [[one["n"].tolist(), one["twice"].tolist(), one["rank"].tolist()] for one in seen]
        ),
        "end": end,
    }


@question
def several_threads():
    seen, end = drained(lines(batch_size=2, num_threads=2), 3)
    return {"seen": sorted(line for one in seen for line in one), "end": end}


@question
def keyed_lines():
    pattern = folder_of(a="1\n2\n3\n")
    arguments = {"reader": tf.TextLineReader, "num_epochs": 1, "randomize_input": False}
    keys, batch = learn.io.read_keyed_batch_examples(pattern, 2, **arguments)
    seen, end = drained([keys, batch], 2)
    found = [[os.path.basename(key.decode()) for key in one[0]] for one in seen]
    return {"keys": repr(found), "seen": repr([list(one[1]) for one in seen]), "end": end}


@question
def lines_of_a_shared_queue():
    pattern = folder_of(a="1\n2\n3\n")
    arguments = {"reader": tf.TextLineReader, "num_epochs": 1, "randomize_input": False}
    with tf.Graph().as_default():  # The variables of its file queue are of no interest.
        keys, batch = learn.io.read_keyed_batch_examples_shared_queue(pattern, 3, **arguments)
        seen, end = drained(batch, 1)
    return {"seen": list(seen[0]), "end": end, "keys": str(keys.shape)}


def shown(found):
    words = found["words"]
    return [found["number"].tolist(), words.dense_shape.tolist(), list(words.values)]


@question
def features():
    pattern = folder_of(a=[1, 2], b=[3])
    found = learn.io.read_batch_features(
        pattern, 2, FEATURES, tf.TFRecordReader, randomize_input=False, num_epochs=1,
        num_enqueue_threads=1,
    )  # fmt: skip
    seen, end = drained(found, 2)
    kinds = {name: isinstance(one, tf.SparseTensor) for name, one in found.items()}
    return {
        "kept": repr(sorted(kept(tf.get_default_graph()).items())),
        "seen": [repr(shown(one)) for one in seen],
        "end": end,
        "kinds": repr(sorted(kinds.items())),
        "shape": str(found["number"].shape),
    }


@question
def keyed_features():
    pattern = folder_of(a=[1, 2], b=[3])
    keys, found = learn.io.read_keyed_batch_features(
        pattern, 3, FEATURES, tf.TFRecordReader, randomize_input=False, num_epochs=1
    )
    seen, end = drained([keys, found], 1)
    bases = [os.path.basename(key.decode()) for key in seen[0][0]]
    return {"keys": bases, "seen": repr(shown(seen[0][1])), "end": end}


@question
def features_of_a_shared_queue():
    pattern = folder_of(a=[1, 2])
    with tf.Graph().as_default():
        keys, found = learn.io.read_keyed_batch_features_shared_queue(
            pattern, 2, FEATURES, tf.TFRecordReader, randomize_input=False, num_epochs=1
        )
        seen, end = drained([keys, found], 1)
    return {"keys": len(seen[0][0]), "seen": repr(shown(seen[0][1])), "end": end}


@question
def features_of_records():
    pattern = folder_of(a=[1, 2], b=[3])
    found = learn.io.read_batch_record_features(
        pattern, 3, FEATURES, randomize_input=False, num_epochs=1
    )
    seen, end = drained(found, 1)
    return {"seen": repr(shown(seen[0])), "end": end, "kinds": sorted(found)}


@question
def features_of_parsed_records():
    pattern = folder_of(a=[1, 2, 3])

    def parse(record):
        return tf.identity(record)

    found = learn.io.read_batch_features(
        pattern, 3, FEATURES, tf.TFRecordReader, randomize_input=False, num_epochs=1, parse_fn=parse
    )
    seen, end = drained(found, 1)
    return {"seen": repr(shown(seen[0])), "end": end}


@question
def features_without_an_end():
    found = learn.io.read_batch_features(folder_of(a=[1, 2]), 2, FEATURES, tf.TFRecordReader)
    seen, _ = drained(found, 2)
    return {"seen": [len(one["number"]) for one in seen]}


@question
def parsed_features_in_a_queue():
    given = {"a": tf.constant([1.0, 2.0]), "b": tf.sparse.from_dense([[1, 0], [0, 2]])}
    keys, found = learn.io.queue_parsed_features(given, keys=tf.constant(["k", "l"]))
    none, alone = learn.io.queue_parsed_features({"a": tf.constant([3.0])})
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        seen = session.run([keys, found["a"], found["b"].values, alone["a"]])
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5)
    return {"seen": repr([one.tolist() for one in seen]), "none": none is None}


@question
def list_of_files():
    pattern = folder_of(a="1\n", b="2\n", c="3\n")
    folder = os.path.dirname(pattern)
    files = [os.path.join(folder, name) for name in ("c", "a")]
    arguments = {"reader": tf.TextLineReader, "num_epochs": 1, "randomize_input": False}
    seen, end = drained(learn.io.read_batch_examples(files, 2, **arguments), 1)
    return {"seen": list(seen[0]), "end": end}


@question
def a_list_with_a_file_that_is_not_there():
    folder = os.path.dirname(folder_of(a="1\n"))
    files = [os.path.join(folder, name) for name in ("b", "a")]
    made = tried(learn.io.read_batch_examples, files, 2, tf.TextLineReader)
    return {"made": made.partition("(")[0]}


@question
def wrong_arguments():
    pattern = folder_of(a="1\n")
    read = learn.io.read_batch_examples
    given = {
        "no file": (pattern + "none", 2),
        "no pattern": ("", 2),
        "an empty list": ([], 2),
        "no batch": (pattern, 0),
        "no batch size": (pattern, None),
        "negative": (pattern, -1),
        "not whole": (pattern, 2.5),
    }
    found = {name: kind(read, *some, reader=tf.TextLineReader) for name, some in given.items()}
    more = {
        "capacity": {"queue_capacity": 2},
        "capacity of one more": {"queue_capacity": 3},
        "no threads": {"num_threads": 0},
        "no epochs": {"num_epochs": 0},
        "reads of none": {"read_batch_size": 0},
        "reads of half": {"read_batch_size": 1.5},
        "reads of many": {"read_batch_size": 20000},
        "a capacity of none": {"queue_capacity": None},
    }
    for name, some in more.items():
        found[name] = kind(read, pattern, 2, reader=tf.TextLineReader, **some)
    return found


def kind(function, *arguments, **named):
    return tried(function, *arguments, **named).partition("(")[0]


@question
def features_of_wrong_arguments():
    pattern = folder_of(a=[1])

    def read(**arguments):
        return kind(
            learn.io.read_batch_features, pattern, 2, FEATURES, tf.TFRecordReader, **arguments
        ).partition("{")[0]

    return {
        "threads": read(num_enqueue_threads=0),
        "capacity": read(feature_queue_capacity=0),
        "readers": read(reader_num_threads=0),
    }


if __name__ == "__main__":
    main()
