"""Questions about `tf.contrib.graph_editor`: copies of parts of a graph."""

import re

import tensorflow as tf
from asking import main, question, signature
from editing import call, chain, changed, describe, make_chain, wiring

ge = tf.contrib.graph_editor


@question
def arguments():
    names = (
        "assign_renamed_collections_handler copy copy_op_handler copy_with_input_replacements "
        "graph_replace keep_t_if_possible_handler replace_t_with_placeholder_handler "
        "transform_op_if_inside_handler"
    )
    return {name: ", ".join(signature(getattr(ge, name))) for name in names.split()}


def copied(function, *arguments, **named):
    """Returns the view of a copy, and what was copied."""
    view, info = function(*arguments, **named)
    tensors = {key: info._transformed_ts[key] for key in info._transformed_ts}
    return view, info._transformed_ops, tensors


def elsewhere(change):
    """Returns what a copy into another graph returns, and the wiring of that graph."""
    with tf.Graph().as_default():
        tensors = make_chain()
        other = tf.Graph()
        return changed(lambda: change(other, *tensors)) + " ; " + " ".join(wiring(other))


@question
def copies():
    def into_scope(a, b, c, d, e, f, g):
        with tf.name_scope("around"):
            return copied(ge.copy, ge.sgv(c.op, d.op))

    def under_control(a, b, c, d, e, f, g):
        with tf.control_dependencies([b]):
            return copied(ge.copy, ge.sgv(c.op, d.op))

    return {
        "some": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, ge.sgv(c.op, d.op))),
        "operations": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, [c.op, d.op])),
        "one": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, d.op)),
        "scope": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, [c.op, d.op], dst_scope="new")),
        "source scope": chain(
            lambda a, b, c, d, e, f, g: copied(
                ge.copy, [c.op, d.op], dst_scope="new", src_scope="outer"
            )
        ),
        "source scope slashes": chain(
            lambda a, b, c, d, e, f, g: copied(
                ge.copy, [c.op, d.op], dst_scope="new/", src_scope="outer/"
            )
        ),
        "only source scope": chain(
            lambda a, b, c, d, e, f, g: copied(ge.copy, [c.op, d.op], src_scope="outer")
        ),
        "wrong source scope": chain(
            lambda a, b, c, d, e, f, g: copied(ge.copy, [c.op, f.op], src_scope="outer")
        ).split(";")[0],
        "used scope": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, [f.op], dst_scope="outer")),
        "reused scope": chain(
            lambda a, b, c, d, e, f, g: copied(
                ge.copy, [f.op], dst_scope="outer", reuse_dst_scope=True
            )
        ),
        "waiting": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, [g.op])),
        "waiting inside": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, [d.op, g.op])),
        "all": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, ge.sgv(a.graph))),
        "twice": chain(lambda a, b, c, d, e, f, g: (copied(ge.copy, d.op), copied(ge.copy, d.op))),
        "in name scope": chain(into_scope),
        "under control": chain(under_control),
        "mapped": chain(
            lambda a, b, c, d, e, f, g: copied(ge.copy, ge.sgv(c.op, d.op).remap([1], [1]))
        ),
        "passing": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, ge.sgv(c.op, e))),
        "other order": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, [g.op, f.op, d.op, c.op])),
        "input twice": chain(lambda a, *_: copied(ge.copy, tf.multiply(a, a, name="s").op)),
        "wrong": chain(lambda a, b, c, d, e, f, g: ge.copy(3)),
        "wrong graph": chain(lambda a, b, c, d, e, f, g: ge.copy(d.op, 3)),
        "empty": chain(lambda a, b, c, d, e, f, g: copied(ge.copy, [])),
    }


@question
def copies_elsewhere():
    return {
        "some": elsewhere(lambda other, a, b, c, d, e, f, g: copied(ge.copy, [c.op, d.op], other)),
        "all": elsewhere(lambda other, *_: copied(ge.copy, ge.sgv(_[0].graph), other)),
        "scope": elsewhere(
            lambda other, a, b, c, d, e, f, g: copied(
                ge.copy, ge.sgv(a.graph), other, "there", "outer"
            )
        ),
        "scope of some": elsewhere(
            lambda other, a, b, c, d, e, f, g: copied(
                ge.copy, ge.sgv("outer", graph=a.graph), other, "there", "outer"
            )
        ),
        "waiting": elsewhere(lambda other, a, b, c, d, e, f, g: copied(ge.copy, g.op, other)),
    }


@question
def replaced_inputs():
    replace = ge.copy_with_input_replacements

    def to_new(a, b, c, d, e, f, g):
        new = tf.constant([7.0, 9.0], name="new")
        return copied(replace, ge.sgv(c.op, d.op), {a: new})

    def to_new_scope(a, b, c, d, e, f, g):
        new = tf.constant([7.0, 9.0], name="new")
        return copied(replace, ge.sgv(c.op, d.op), {a: new}, dst_scope="scope")

    def to_other_graph(a, b, c, d, e, f, g):
        with tf.Graph().as_default() as other:
            new = tf.constant([7.0, 9.0], name="new")
            result = copied(replace, ge.sgv(c.op, d.op), {a: new}, other)
            return describe(result), " ".join(wiring(other))

    return {
        "none": chain(lambda a, b, c, d, e, f, g: copied(replace, ge.sgv(c.op, d.op), {})),
        "operations": chain(lambda a, b, c, d, e, f, g: copied(replace, [c.op, d.op], {})),
        "input": chain(lambda a, b, c, d, e, f, g: copied(replace, ge.sgv(c.op, d.op), {a: b})),
        "new": chain(to_new),
        "new scope": chain(to_new_scope),
        "other graph": chain(to_other_graph),
        "inside": chain(lambda a, b, c, d, e, f, g: copied(replace, ge.sgv(c.op, d.op), {c: b})),
        "outside": chain(lambda a, b, c, d, e, f, g: copied(replace, ge.sgv(c.op, d.op), {f: b})),
        "wrong value": chain(lambda a, b, c, d, e, f, g: replace(ge.sgv(c.op), {a: 3})),
        "wrong key": chain(lambda a, b, c, d, e, f, g: copied(replace, ge.sgv(c.op), {3: a})),
        "operation": chain(lambda a, b, c, d, e, f, g: copied(replace, ge.sgv(c.op), {a.op: b})),
        "dtype": chain(
            lambda a, b, c, d, e, f, g: replace(ge.sgv(c.op), {a: tf.constant(1, name="one")})
        ).split(":")[0],
        "waiting": chain(lambda a, b, c, d, e, f, g: copied(replace, ge.sgv(g.op), {})),
    }


def waiting(before, value):
    with tf.control_dependencies([before]):
        return tf.identity(value, name="waiting")


@question
def replaced_graphs():
    replace = ge.graph_replace

    def to_new(a, b, c, d, e, f, g):
        return replace(f, {a: tf.constant([7.0, 9.0], name="new")})

    def to_new_waiting(a, b, c, d, e, f, g):
        return replace([g], {b: tf.constant([7.0, 9.0], name="new")})

    def nested(a, b, c, d, e, f, g):
        new = tf.constant([7.0, 9.0], name="new")
        return replace([f, [e]], {d: new})

    def keyed(a, b, c, d, e, f, g):
        new = tf.constant([7.0, 9.0], name="new")
        found = replace({"f": f, "e": e}, {d: new})
        return str(sorted(found)) + describe(found["f"]) + describe(found["e"])

    return {
        "one": chain(to_new),
        "list": chain(to_new_waiting),
        "nested": chain(nested),
        "dict": chain(keyed),
        "tuple": chain(lambda a, b, c, d, e, f, g: type(replace((f, e), {b: a})).__name__),
        "scope": chain(lambda a, b, c, d, e, f, g: replace(f, {b: a}, dst_scope="new")),
        "source scope": chain(lambda a, b, c, d, e, f, g: replace(e, {d: a}, "new", "outer")),
        "reused scope": chain(
            lambda a, b, c, d, e, f, g: replace(f, {b: a}, "outer", reuse_dst_scope=True)
        ),
        "inner": chain(lambda a, b, c, d, e, f, g: replace(f, {c: a})),
        "itself": chain(lambda a, b, c, d, e, f, g: replace(f, {f: a})),
        "apart": chain(lambda a, b, c, d, e, f, g: replace(d, {f: a})),
        "two": chain(lambda a, b, c, d, e, f, g: replace([f, e], {a: b, b: a})),
        "none": chain(lambda a, b, c, d, e, f, g: replace(f, {})),
        "wrong": chain(lambda a, b, c, d, e, f, g: replace(3, {a: b})),
        "operation": chain(lambda a, b, c, d, e, f, g: replace(f.op, {a: b})),
        "by control": chain(lambda a, b, c, d, e, f, g: replace(waiting(d, b), {a: b})),
        "wrong value": chain(lambda a, b, c, d, e, f, g: replace(f, {a: 3})),
    }


@question
def informed():
    a, b, c, d, e, f, g = make_chain()
    view, info = ge.copy(ge.sgv(c.op, d.op), dst_scope="new", src_scope="outer")
    _, plain = ge.copy(ge.sgv(c.op))
    _, other = ge.copy(ge.sgv(c.op), tf.Graph())
    return {
        "type": type(info).__name__,
        "transformed": describe((info.transformed(c), info.transformed(d.op))),
        "transformed list": call(info.transformed, [c, d]),
        "transformed dict": call(lambda: info.transformed({"c": c})["c"]),
        "transformed missing": call(info.transformed, f),
        "transformed missing function": call(info.transformed, f, lambda one: one),
        "transformed view": call(info.transformed, ge.sgv(c.op)).split(":")[0],
        "transformed input": call(info.transformed, a),
        "original": describe((info.original(view.ops[0]), info.original(view.outputs[0]))),
        "original missing": call(info.original, f),
        "original missing function": call(info.original, f, lambda one: "none"),
        "printed": lines(info),
        "printed plain": lines(plain),
        "printed other": lines(other),
    }


def lines(info):
    """Returns the lines of a printed info without the numbers of its graphs."""
    return re.sub(r"graph\[[0-9]+\]", "graph", str(info)).split("\n")


@question
def computed():
    a, b, c, d, e, f, g = make_chain()
    new = tf.constant([0.5, 0.25], name="new")
    _, info = ge.copy_with_input_replacements(ge.sgv([c.op, d.op, e.op]), {a: new})
    return {
        "f": f,
        "replaced": ge.graph_replace(f, {a: new}),
        "copied": info.transformed(e),
        "gradient": tf.gradients(ge.graph_replace(f, {a: new}), [new, b]),
    }


@question
def collections():
    a, b, c, d, e, f, g = make_chain()
    tf.add_to_collection("kept", c)
    tf.add_to_collection("losses", c)
    tf.add_to_collection("operations", d.op)
    tf.add_to_collection("outer/kept", d)
    ge.copy([c.op, d.op], dst_scope="new")
    other = tf.Graph()
    ge.copy([c.op, d.op], other, dst_scope="new")
    graphs = {"same": a.graph, "other": other}
    return {
        name: sorted(key + ": " + describe(graph.get_collection(key)) for key in keys)
        for name, graph in graphs.items()
        for keys in [graph.get_all_collection_keys()]
    }


@question
def scopes_and_devices():
    a, b, c, d, e, f, g = make_chain()
    with tf.device("/cpu:0"):
        placed = tf.negative(d, name="placed")
    with tf.device("/cpu:0"):
        view, _ = ge.copy([d.op, placed.op])
    names = [str(one.device) for one in view.ops + list(view.ops[0].inputs)]
    ge.copy(d.op, dst_scope="new/")
    ge.copy(d.op, dst_scope="new/")
    with tf.name_scope("around"):
        ge.copy(d.op, dst_scope="sub")
        ge.copy(d.op, dst_scope="sub", reuse_dst_scope=True)
        ge.copy(d.op, reuse_dst_scope=True)
    return {"devices": names, "wiring": wiring()}


if __name__ == "__main__":
    main()
