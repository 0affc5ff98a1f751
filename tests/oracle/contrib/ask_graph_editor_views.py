"""Questions about `tf.contrib.graph_editor`: views of parts of a graph."""

import re

import tensorflow as tf
from asking import main, question, signature
from editing import call, make_chain, make_pair, names

ge = tf.contrib.graph_editor
METHODS = [
    "__init__",
    "consumers",
    "copy",
    "find_op_by_name",
    "input_index",
    "is_passthrough",
    "op",
    "output_index",
    "remap",
    "remap_default",
    "remap_inputs",
    "remap_outputs",
    "remap_outputs_make_unique",
    "remap_outputs_to_consumers",
    "remove_unused_ops",
]


@question
def arguments():
    return {name: ", ".join(signature(getattr(ge.SubGraphView, name))) for name in METHODS}


@question
def construction():
    a, b, c, d, e, f, g = make_chain()
    graph = tf.get_default_graph()
    view = ge.SubGraphView
    one = view(c.op)
    with tf.Graph().as_default():
        foreign = tf.constant(1.0, name="foreign")
    return {
        "empty": call(view),
        "one": call(view, c.op),
        "some": call(view, [c.op, d.op, e.op]),
        "other order": call(view, [e.op, d.op, c.op]),
        "passing": call(view, [], [a, b]),
        "passing and some": call(view, [c.op], [d, a]),
        "passing input": call(view, [c.op], [a]),
        "passing output": call(view, [c.op], [c]),
        "passing inside": call(view, [c.op, d.op, f.op], [c, e]),
        "passing twice": call(view, [], [a, a]),
        "graph": call(view, graph),
        "tensors": call(view, [c]),
        "foreign": call(view, [c.op, foreign.op]),
        "foreign tensor": call(view, [c.op], [foreign]),
        "sgv": call(ge.sgv, "^outer/", graph=graph),
        "sgv of two": call(ge.sgv, "^f", a.op, graph=graph),
        "sgv of tensors": call(ge.sgv, c),
        "sgv of ops and tensors": call(ge.sgv, [f.op, a], graph=graph),
        "sgv of ts": call(ge.sgv, "(?#ts)^a", "^f", graph=graph),
        "sgv of view": call(ge.sgv, view(c.op)),
        "sgv of view is": one is ge.sgv(one),
        "sgv of graph": call(ge.sgv, graph),
        "sgv without graph": call(ge.sgv, "a"),
        "sgv unknown": call(ge.sgv, "a", graph=graph, color=3),
        "sgv is": ge.sgv is ge.make_view and ge.sgv_scope is ge.make_view_from_scope,
        "scope": call(ge.sgv_scope, "outer", graph),
        "inner scope": call(ge.sgv_scope, "outer/inner/", graph),
        "unknown scope": call(ge.sgv_scope, "there", graph),
        "scope of wrong graph": call(ge.sgv_scope, "outer", 3),
    }


@question
def reading():
    a, b, c, d, e, f, g = make_chain()
    graph = tf.get_default_graph()
    view = ge.sgv("^outer/", graph=graph)
    empty = ge.SubGraphView()
    passing = ge.SubGraphView([], [a])
    return {
        "graph": view.graph is graph,
        "empty graph": call(lambda: empty.graph),
        "passing graph": passing.graph is graph,
        "true": [bool(view), bool(empty), bool(passing)],
        "consumers": call(view.consumers),
        "connected": call(lambda: view.connected_inputs)
        + " / "
        + call(lambda: view.connected_outputs),
        "find": call(view.find_op_by_name, "outer/d"),
        "find missing": call(view.find_op_by_name, "d"),
        "input index": [view.input_index(t) for t in view.inputs],
        "output index": [view.output_index(t) for t in view.outputs],
        "passing": [view.is_passthrough(a), passing.is_passthrough(a)],
        "op": call(view.op, 1),
        "op last": call(view.op, -1),
        "op missing": call(view.op, 9),
        "types": [type(one).__name__ for one in (view.ops, view.inputs, view.outputs)],
        "list": call(lambda: view.inputs + view.outputs),
        "list reversed": call(lambda: [a] + view.outputs),
        "set": call(lambda: view.ops.append(a.op)),
        "len": len(view.ops),
        "slice": call(lambda: list(view.ops[:2])),
        "context": call(lambda: type(view.__enter__()).__name__),
        "equal": view == ge.sgv("^outer/", graph=graph),
        "iterable": call(lambda: list(view)),
    }


def lines(view):
    """Returns the lines of a printed view without the number of its graph."""
    return re.sub("graphid=[0-9]+", "graphid=", str(view)).split("\n")


@question
def printed():
    a, b, c, d, e, f, g = make_chain()
    graph = tf.get_default_graph()
    return {
        "view": lines(ge.sgv("^outer/", graph=graph)),
        "passing": lines(ge.SubGraphView([c.op], [d])),
        "empty": lines(ge.SubGraphView()),
    }


@question
def mapped():
    a, b, c, d, e, f, g = make_chain()
    graph = tf.get_default_graph()
    view = ge.sgv("^outer/", graph=graph)
    before = call(lambda: view)
    copied = view.copy()
    return {
        "inputs": call(view.remap_inputs, [1, 0]),
        "one input": call(view.remap_inputs, [1]),
        "inputs by tensor": call(view.remap_inputs, [b, 0]),
        "inputs twice": call(view.remap_inputs, [0, 0]),
        "inputs missing": call(view.remap_inputs, [2]),
        "inputs tensor missing": call(view.remap_inputs, [f]),
        "inputs negative": call(view.remap_inputs, [-1]),
        "outputs": call(view.remap_outputs, [1, 0]),
        "outputs twice": call(view.remap_outputs, [0, 0, 1]),
        "outputs by tensor": call(view.remap_outputs, [e]),
        "outputs missing": call(view.remap_outputs, [2]),
        "both": call(view.remap, [1], [0]),
        "none": call(view.remap),
        "default": call(view.remap([1], [0]).remap_default),
        "default inputs": call(view.remap([1], [0]).remap_default, True, False),
        "default passing": call(ge.SubGraphView([c.op], [d]).remap([0]).remap_default),
        "unique": call(view.remap_outputs([0, 0, 1]).remap_outputs_make_unique),
        "consumers": call(view.remap_outputs_to_consumers),
        "same": before == call(lambda: view),
        "copy": copied is not view and call(lambda: copied) == before,
        "twice": call(view.remap_inputs([1, 0]).remap_inputs, [0]),
        "twice shorter": call(view.remap_inputs([1]).remap_inputs, [1]),
        "twice outputs": call(view.remap_outputs([1, 0]).remap_outputs, [0]),
        "index of mapped": view.remap_inputs([1, 0]).input_index(b),
        "index of mapped output": view.remap_outputs([1, 0]).output_index(e),
        "default of copy": call(view.remap_inputs([1]).copy().remap_default),
        "passing inputs": call(ge.SubGraphView([c.op], [d]).remap_inputs, [2, 0]),
        "passing inputs left": call(ge.SubGraphView([c.op], [d]).remap_inputs, [0]),
        "passing outputs": call(ge.SubGraphView([c.op], [d]).remap_outputs, [1]),
        "end consumers": call(ge.sgv(g.op).remap_outputs_to_consumers),
    }


@question
def unused():
    a, b, c, d, e, f, g = make_chain()
    before = tf.constant(1.0, name="before")
    with tf.control_dependencies([before]):
        after = tf.constant(2.0, name="after")
    waiting = ge.SubGraphView([before.op, after.op]).remap_outputs([after])
    graph = tf.get_default_graph()
    everything = ge.sgv(graph)
    negated = ge.SubGraphView([d.op, c.op, g.op]).remap_outputs([g])
    view = ge.SubGraphView([c.op, d.op, e.op, f.op])
    return {
        "all": call(everything.remove_unused_ops),
        "one output": call(ge.sgv("^outer/", graph=graph).remap_outputs([0]).remove_unused_ops),
        "with control": call(negated.remove_unused_ops),
        "without control": call(negated.remove_unused_ops, False),
        "view": call(view.remove_unused_ops),
        "no inputs": call(view.remap_inputs([]).remap_outputs([0]).remove_unused_ops),
        "one input": call(view.remap([0], []).remove_unused_ops),
        "waiting": call(waiting.remove_unused_ops),
        "not waiting": call(waiting.remove_unused_ops, False),
        "connected": call(lambda: view.remap([1], []).connected_inputs),
        "connected passing": call(lambda: ge.SubGraphView([c.op], [d]).connected_inputs),
        "not connected": call(lambda: ge.SubGraphView([g.op]).connected_outputs),
        "passing not connected": call(lambda: ge.SubGraphView([], [g]).connected_outputs),
    }


@question
def pairs():
    x, y, z, u, v, w = make_pair()
    graph = tf.get_default_graph()
    one, two = ge.sgv("^one/", graph=graph), ge.sgv("^two/", graph=graph)
    return {
        "one": call(lambda: one),
        "connected": names(list(one.connected_outputs)),
        "consumers": call(one.remap_outputs_to_consumers),
        "two": call(ge.sgv, one.ops, two.ops),
        "sgv of views": call(ge.sgv, one, two),
        "other scope": call(ge.sgv, "^one", "^two/", graph=graph),
    }


if __name__ == "__main__":
    main()
