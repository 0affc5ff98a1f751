"""Graphs for questions about `tf.contrib.graph_editor`, and descriptions of its results."""

import re

import tensorflow as tf


def names(values):
    """Returns the names of operations, tensors or views, in one text."""
    values = [values] if isinstance(values, (tf.Tensor, tf.Operation)) else values
    return " ".join(getattr(value, "name", str(value)) for value in values)


def call(function, *arguments, **named):
    """Returns a text of the result of a call, or type and text of its error."""
    try:
        return describe(function(*arguments, **named))
    except Exception as error:  # noqa: BLE001  whatever comes is the answer
        # The modules of classes differ between versions of TensorFlow, addresses between runs.
        text = re.sub("0x[0-9a-f]+", "0x", str(error).split("\n")[0])
        text = text.replace("SymbolicTensor", "Tensor")
        return type(error).__name__ + ": " + re.sub(r"<class '([\w]+\.)*(\w+)'>", r"\2", text)


def describe(value):
    """Returns names of operations and tensors, the parts of a view, or a value as a text."""
    if type(value).__name__ == "SubGraphView":
        return show(value)
    if isinstance(value, tuple):
        return " / ".join(describe(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(sorted(describe(key) + "=" + describe(value[key]) for key in value))
    if isinstance(value, (tf.Tensor, tf.Operation, list)) or type(value).__name__ == "ListView":
        return names(value)
    return str(value)


def shape_text(tensor):
    """Returns the shape of a tensor as a text that all versions of TensorFlow share."""
    return "unknown" if tensor.shape.ndims is None else str(tensor.shape.as_list())


def walked(function, *arguments, **named):
    """Returns the sorted names of the operations of a walk, whose order differs between runs."""
    try:
        return " ".join(sorted(operation.name for operation in function(*arguments, **named)))
    except TypeError:
        return call(function, *arguments, **named)


def show(view):
    """Returns the operations, inputs, outputs and passing tensors of a view."""
    parts = (view.ops, view.inputs, view.outputs, view.passthroughs)
    return "{} | {} -> {} | {}".format(*map(names, parts))


def wiring(graph=None):
    """Returns each operation with its inputs and its control inputs."""
    graph = graph or tf.get_default_graph()
    lines = []
    for operation in graph.get_operations():
        waits = sorted("^" + one.name for one in operation.control_inputs)
        inputs = [tensor.name for tensor in operation.inputs]
        lines.append("{}({})".format(operation.name, " ".join(inputs + waits)))
    return lines


def make_chain():
    """Builds a, b -> outer/c -> outer/d -> outer/inner/e -> f -> g, where g waits for outer/d."""
    a = tf.constant([1.0, 2.0], name="a")
    b = tf.constant([3.0, 5.0], name="b")
    with tf.name_scope("outer"):
        c = tf.maximum(a, b, name="c")
        d = tf.multiply(c, a, name="d")
        with tf.name_scope("inner"):
            e = tf.exp(d, name="e")
    f = tf.minimum(e, c, name="f")
    with tf.control_dependencies([d]):
        g = tf.negative(f, name="g")
    return a, b, c, d, e, f, g


def make_pair():
    """Builds two scopes with the same operations: x -> one/y -> one/z, and u -> two/v -> two/w."""
    x = tf.constant([1.0, 2.0], name="x")
    u = tf.constant([4.0, 8.0], name="u")
    with tf.name_scope("one"):
        y = tf.negative(x, name="y")
        z = tf.exp(y, name="z")
    with tf.name_scope("two"):
        v = tf.negative(u, name="v")
        w = tf.exp(v, name="w")
    tf.identity(z, name="after_one")
    tf.identity(w, name="after_two")
    return x, y, z, u, v, w


def changed(change):
    """Returns the result of a change of the default graph, and the operations that it changes."""
    before = wiring()
    result = call(change)
    after = wiring()
    lines = [line for line in after if line not in before]
    return result + " ; " + " ".join(lines)


def chain(change):
    """Returns what a change of the chain returns, and the wiring that it changes."""
    with tf.Graph().as_default():
        tensors = make_chain()
        return changed(lambda: change(*tensors))
