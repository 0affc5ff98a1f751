"""Asks TensorFlow 1.15's `tf.contrib` and its replacement the same questions.

A question builds a graph and returns the fetches: a dict of tensors, operations and plain
values, or a list of such dicts that are run one after the other. Trainable variables have values
that do not depend on any seed. A script `ask_*.py` of questions runs as an old program does:

    python3.7 ask_opt.py ANSWERS.json            # with tensorflow==1.15.5
    estimator-train run --tf1 ask_opt.py ANSWERS.json
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections import OrderedDict

import numpy as np
import tensorflow as tf

QUESTIONS = OrderedDict()


def question(function):
    """Adds a question, by the name of the function."""
    QUESTIONS[function.__name__] = function
    return function


def differs(reason):
    """Marks a question that ours answers otherwise on purpose; stands above `question`."""

    def marked(function):
        function.differs = reason
        return function

    return marked


def numbers(*shape, start=0, scale=0.5):
    """Floats that are all different and of both signs: `scale` times the sine of 0.7 i."""
    size = int(np.prod(shape)) if shape else 1
    return (scale * np.sin(0.7 * (start + np.arange(size)))).reshape(shape).astype(np.float32)


def signature(function):
    """Returns the arguments of a function, each with its default where that is a plain value."""
    arguments = inspect.signature(function).parameters.values()
    return [one.name + default(one.default) for one in arguments]


def default(value):
    if value is inspect.Parameter.empty:
        return ""
    plain = value is None or isinstance(value, (str, int, float, bool, tuple))
    return "=" + (repr(value) if plain else "...")


def main():
    """Writes the answers to all questions of the script to the file that it is given."""
    write(sys.argv[1])


def write(path, names=None):
    """Writes the answers to all questions so far, or to some; there are none any more then."""
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    answers = {name: answer(QUESTIONS[name]) for name in names or QUESTIONS}
    with open(path, "w") as f:
        lines = [json.dumps(name) + ": " + json.dumps(answers[name]) for name in sorted(answers)]
        f.write("{\n" + ",\n".join(lines) + "\n}\n")
    QUESTIONS.clear()


def answer(asked):
    """Returns values and variables of one question, or its error; with them why ours differs."""
    reason = getattr(asked, "differs", None)
    return dict(outcome(asked), **({"differs": reason} if reason else {}))


def outcome(asked):
    with tf.Graph().as_default() as graph:
        try:
            fetched = asked()
            values = run(graph, fetched if isinstance(fetched, list) else [fetched])
        except Exception as error:  # noqa: BLE001  whatever comes is the answer
            # For whoever reads it: without where files are on a machine.
            text = re.sub(r"[\w.-]*(/[\w.-]+)+", "PATH", str(error).split("\n")[0])
            return {"error": type(error).__name__, "text": text[:200]}
        return {"values": values, "variables": variables(graph)}


def run(graph, fetches):
    with tf.Session(graph=graph) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        for index, variable in enumerate(sorted(tf.trainable_variables(), key=lambda v: v.name)):
            if variable.dtype.base_dtype.is_floating:
                shape = variable.shape.as_list()
                variable.load(numbers(*shape, start=7 * index) + 0.1, session)
        return [described(session.run(some) if some else some) for some in map(split, fetches)]


def split(fetches):
    """Plain values become constants, so that all can be fetched."""
    plain = (str, int, float, bool, list, tuple, np.ndarray, np.generic)
    return {
        name: tf.constant(value) if isinstance(value, plain) and not has_tensors(value) else value
        for name, value in fetches.items()
    }


def has_tensors(value):
    parts = value if isinstance(value, (list, tuple)) else [value]
    return any(
        isinstance(part, (tf.Tensor, tf.Operation, tf.SparseTensor, tf.Variable))
        or (isinstance(part, (list, tuple)) and has_tensors(part))
        for part in parts
    )


def described(value):
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, dict):
        return {str(key): described(one) for key, one in value.items()}
    if hasattr(value, "_asdict"):
        return described(value._asdict())
    if isinstance(value, (list, tuple)):
        return [described(one) for one in value]
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return [described(one) for one in array.tolist()] if array.ndim else described(array.item())
    if array.dtype.kind == "f":
        return [described(one) for one in array] if array.ndim else float(format(array, ".7g"))
    return array.tolist()


def variables(graph):
    """Returns name to shape, and the public collections that the variable is in."""
    found = {}
    for key in graph.get_all_collection_keys():
        for one in graph.get_collection(key):
            kinds = (tf.Variable, tf.compat.v2.Variable)
            if isinstance(one, kinds) and isinstance(key, str):
                entry = found.setdefault(one.op.name, [one.shape.as_list(), []])
                if not key.startswith("_") and "/" not in key:
                    entry[1].append(key)
    return {name: [shape, sorted(set(keys))] for name, (shape, keys) in found.items()}
