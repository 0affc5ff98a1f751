"""Questions about `tf.compat.v1.estimator.inputs`, asked of the original and of us alike."""

import contextlib

import numpy as np
import pandas as pd
import tensorflow as tf

tf1 = tf.compat.v1

X = {"b": np.arange(5.0), "a": np.arange(10).reshape(5, 2)}
Y = np.arange(5) + 100
FRAME = pd.DataFrame({"b": [1.0, 2.0, 3.0], "a": [4, 5, 6]}, index=[10, 11, 12])
SERIES = pd.Series([7, 8, 9], index=[10, 11, 12])
LABELS = pd.DataFrame({"l": [1, 2, 3], "a": [4, 5, 6]}, index=[10, 11, 12])

# Name: (numpy or pandas, x, y, the other arguments).
FEEDS = {
    "dict": ("numpy", X, Y, {"batch_size": 2, "shuffle": False}),
    "labels in a dict": ("numpy", X, {"l": Y, "k": -Y}, {"batch_size": 3, "shuffle": False}),
    "array alone": ("numpy", np.zeros([4, 3], np.float32), None, {"shuffle": False}),
    "for ever": ("numpy", X, Y, {"batch_size": 4, "shuffle": False, "num_epochs": None}),
    "over the end": ("numpy", X, Y, {"batch_size": 4, "shuffle": False, "num_epochs": 2}),
    "small queue": ("numpy", X, Y, {"batch_size": 2, "shuffle": False, "queue_capacity": 1}),
    "strings": ("numpy", np.array(["x", "yy", ""]), None, {"batch_size": 2, "shuffle": False}),
    "shuffled": ("numpy", X, Y, {"batch_size": 2, "shuffle": True, "num_epochs": 2}),
    "small shuffle": ("numpy", X, Y, {"batch_size": 2, "shuffle": True, "queue_capacity": 7}),
    "threads": ("numpy", X, Y, {"batch_size": 2, "shuffle": True, "num_threads": 3}),
    "frame": ("pandas", FRAME, SERIES, {"batch_size": 2, "shuffle": False}),
    "frame alone": ("pandas", FRAME, None, {"batch_size": 2, "shuffle": False}),
    "frame of labels": ("pandas", FRAME, LABELS, {"batch_size": 2, "shuffle": False}),
    "frame, capacity left out": (
        "pandas",
        FRAME,
        SERIES,
        {"batch_size": 2, "shuffle": False, "queue_capacity": None},
    ),
    "shuffled frame, capacity left out": (
        "pandas",
        FRAME,
        SERIES,
        {"batch_size": 2, "shuffle": True, "queue_capacity": None},
    ),
    "shuffled frame": ("pandas", FRAME, SERIES, {"batch_size": 2, "shuffle": True}),
}

MISTAKES = {
    "no shuffle": ("numpy", X, Y, {}),
    "shuffle as a number": ("numpy", X, Y, {"shuffle": 1}),
    "list": ("numpy", [1], Y, {"shuffle": False}),
    "empty dict": ("numpy", {}, Y, {"shuffle": False}),
    "empty array": ("numpy", np.zeros([0, 3]), None, {"shuffle": False}),
    "empty array with rows": ("numpy", np.zeros([2, 0]), None, {"shuffle": False}),
    "empty array with rows, labels": ("numpy", np.zeros([2, 0]), Y, {"shuffle": False}),
    "empty array and other labels": ("numpy", np.zeros([0, 3]), Y, {"shuffle": False}),
    "empty array in a dict": ("numpy", {"a": np.zeros([2, 0])}, None, {"shuffle": False}),
    "array, capacity left out": ("numpy", X, Y, {"shuffle": False, "queue_capacity": None}),
    "empty labels": ("numpy", X, {}, {"shuffle": False}),
    "key twice": ("numpy", X, {"a": Y}, {"shuffle": False}),
    "too few labels": ("numpy", X, Y[:3], {"shuffle": False}),
    "too few in a dict": ("numpy", {"a": Y}, {"l": Y[:3]}, {"shuffle": False}),
    "lengths differ": ("numpy", {"a": Y, "b": Y[:3]}, None, {"shuffle": False}),
    "array and too few labels": ("numpy", Y, Y[:3], {"shuffle": False}),
    "no thread": ("numpy", X, Y, {"shuffle": False, "num_threads": 0}),
    "frame, no shuffle": ("pandas", FRAME, SERIES, {}),
    "frame, other index": ("pandas", FRAME, pd.Series([7, 8, 9]), {"shuffle": False}),
    "frame, target taken": (
        "pandas",
        FRAME,
        SERIES,
        {"shuffle": False, "target_column": "a"},
    ),
    "frame, target list": ("pandas", FRAME, LABELS, {"shuffle": False, "target_column": ["l"]}),
    "series": ("pandas", SERIES, None, {"shuffle": False}),
    "array as a frame": ("pandas", X, SERIES, {"shuffle": False}),
    "dict as a frame": ("pandas", {"a": Y}, SERIES, {"shuffle": False}),
    "no frame": ("pandas", None, None, {"shuffle": False}),
}


def ask(inputs):
    """Answers to all questions from one implementation's `inputs` module."""
    makers = {"numpy": inputs.numpy_input_fn, "pandas": inputs.pandas_input_fn}
    answers = {}
    for name, (kind, x, y, arguments) in FEEDS.items():
        answers[f"feed: {name}"] = _feed(makers[kind](x, y, **arguments))
    for name, (kind, x, y, arguments) in MISTAKES.items():
        answers[f"mistake: {name}"] = _mistake(makers[kind], x, y, arguments)
    return answers


def _feed(input_fn):
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(7)
        tensors = input_fn()
        (runner,) = graph.get_collection(tf1.GraphKeys.QUEUE_RUNNERS)
        summaries = graph.get_collection(tf1.GraphKeys.SUMMARIES)
        return {
            "tensors": repr(tensors),
            "operations": [f"{op.name} {op.type}" for op in graph.get_operations()],
            "queue": _attributes(runner.queue.queue_ref.op),
            "threads": len(runner.enqueue_ops),
            "summaries": [summary.name for summary in summaries],
            "batches": _batches(tensors),
        }


def _attributes(operation):
    wanted = ("capacity", "min_after_dequeue", "seed", "seed2", "component_types", "shapes")
    found = [name for name in wanted if name in operation.node_def.attr]
    return {name: str(operation.get_attr(name)) for name in found}


def _batches(tensors):
    """Up to ten batches; the rows of an epoch in order where they are drawn at random."""
    found = []
    with tf1.Session() as session:
        coord = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coord)
        with contextlib.suppress(tf.errors.OutOfRangeError):
            for _ in range(10):
                found.append([_plain(part) for part in tf.nest.flatten(session.run(tensors))])
        coord.request_stop()
        coord.join(threads, ignore_live_threads=True)
    if tf.nest.flatten(tensors)[0].op.inputs[0].op.type == "FIFOQueueV2":
        return found
    # Where the threads begin is random in both.
    return {"sizes": [len(b[0]) for b in found], "rows": sorted(sum([b[-1] for b in found], []))}


def _plain(array):
    array = array.astype("U") if array.dtype.kind == "O" else array
    return array.tolist()


def _mistake(maker, x, y, arguments):
    with tf.Graph().as_default():
        try:
            maker(x, y, **arguments)()
        except AttributeError:
            return ["AttributeError"]
        except (TypeError, ValueError) as error:
            return [type(error).__name__, str(error)]
    return None
