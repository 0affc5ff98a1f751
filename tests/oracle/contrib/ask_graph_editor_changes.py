"""Questions about `tf.contrib.graph_editor`: changes of the inputs of operations."""

import tensorflow as tf
from asking import main, question, signature
from editing import call, chain, changed, make_chain, make_pair

ge = tf.contrib.graph_editor
FUNCTIONS = [
    "add_control_inputs",
    "bypass",
    "connect",
    "detach",
    "detach_control_inputs",
    "detach_control_outputs",
    "detach_inputs",
    "detach_outputs",
    "remove_control_inputs",
    "reroute_inputs",
    "reroute_ios",
    "reroute_outputs",
    "reroute_ts",
    "swap_inputs",
    "swap_ios",
    "swap_outputs",
    "swap_ts",
]


@question
def arguments():
    return {name: ", ".join(signature(getattr(ge, name))) for name in FUNCTIONS}


def pair(change):
    """Returns what a change of the two scopes returns, and the wiring that it changes."""
    with tf.Graph().as_default() as graph:
        tensors = make_pair()
        one, two = ge.sgv("^one/", graph=graph), ge.sgv("^two/", graph=graph)
        return changed(lambda: change(one, two, *tensors))


@question
def rerouted_tensors():
    def of_other_dtype(a, b, c, d, e, f, g):
        return ge.reroute_ts([a], [tf.constant(1, name="whole")])

    def of_other_shape(a, b, c, d, e, f, g):
        return ge.reroute_ts([a], [tf.constant([1.0, 2.0, 3.0], name="long")])

    def of_unknown_shape(a, b, c, d, e, f, g):
        return ge.reroute_ts([tf.placeholder(tf.float32, name="any")], [a])

    def foreign(a, b, c, d, e, f, g):
        with tf.Graph().as_default():
            return ge.reroute_ts([a], [tf.constant([1.0, 2.0], name="foreign")])

    return {
        "one": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a])),
        "no lists": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts(b, a)),
        "two": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b, d], [a, c])),
        "can": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts(b, a, can_modify=d.op)),
        "can many": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a], [d.op, c.op])),
        "can none": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a], can_modify=[])),
        "can some": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a], [c.op])),
        "cannot": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a], cannot_modify=[d.op])),
        "cannot none": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a], cannot_modify=[])),
        "same": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([a], [a])),
        "values": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts({b: 1}.keys(), {1: a}.values())),
        "to twice": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b, b], [a, c])),
        "unused": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [g])),
        "loop": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([e], [a])),
        "lengths": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a, c])),
        "empty": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([], [])),
        "operations": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b.op], [a])),
        "number": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts(3, a)),
        "views": chain(
            lambda a, b, c, d, e, f, g: ge.reroute_ts(ge.sgv(d.op).inputs, ge.sgv(c.op).inputs)
        ),
        "dtype": chain(of_other_dtype).split(":")[0],
        "shape": chain(of_other_shape),
        "unknown shape": chain(of_unknown_shape),
        "foreign": chain(foreign),
        "to foreign": chain(
            lambda a, b, c, d, e, f, g: ge.reroute_ts([foreign_tensor()], [a])
        ).split(":")[0],
        "can and cannot": chain(
            lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a], [c.op, d.op], [d.op])
        ),
        "can tensors": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a], [c])),
        "can set": chain(lambda a, b, c, d, e, f, g: ge.reroute_ts([b], [a], {c.op})),
    }


@question
def swapped_tensors():
    return {
        "one": chain(lambda a, b, c, d, e, f, g: ge.swap_ts([b], [a])),
        "can": chain(lambda a, b, c, d, e, f, g: ge.swap_ts(b, a, can_modify=[c.op])),
        "cannot": chain(lambda a, b, c, d, e, f, g: ge.swap_ts(b, a, cannot_modify=[d.op])),
        "two": chain(lambda a, b, c, d, e, f, g: ge.swap_ts([b, d], [a, c])),
        "lengths": chain(lambda a, b, c, d, e, f, g: ge.swap_ts([b], [a, c])),
    }


@question
def rerouted_views():
    return {
        "inputs": pair(lambda one, two, *_: ge.reroute_inputs(one, two)),
        "outputs": pair(lambda one, two, *_: ge.reroute_outputs(one, two)),
        "both": pair(lambda one, two, *_: ge.reroute_ios(one, two)),
        "swapped inputs": pair(lambda one, two, *_: ge.swap_inputs(one, two)),
        "swapped outputs": pair(lambda one, two, *_: ge.swap_outputs(one, two)),
        "swapped both": pair(lambda one, two, *_: ge.swap_ios(one, two)),
        "operations": pair(lambda one, two, *_: ge.reroute_inputs(one.ops, two.ops)),
        "tensors": pair(lambda one, two, x, y, z, u, v, w: ge.reroute_inputs(y.op, v.op)),
        "different": pair(lambda one, two, *_: ge.reroute_inputs(one, two.remap_inputs([]))),
        "different outputs": pair(
            lambda one, two, *_: ge.reroute_outputs(one, two.remap_outputs([0, 0]))
        ),
        "more outputs": pair(
            lambda one, two, *_: ge.reroute_outputs(one.remap_outputs([0, 0]), two)
        ),
        "in place": pair(
            lambda one, two, *_: [
                ge.reroute_ios(one, two)[0] is one,
                ge.swap_ios(one, two)[1] is two,
                call(lambda: two),
            ]
        ),
        "passing": pair(
            lambda one, two, x, y, z, u, v, w: ge.reroute_inputs(
                ge.sgv(y.op, w).remap_inputs([1]), two
            )
        ),
        "to passing": pair(lambda one, two, x, y, z, u, v, w: ge.reroute_inputs(one, ge.sgv(v))),
        "passing to passing": pair(
            lambda one, two, x, y, z, u, v, w: ge.reroute_inputs(ge.sgv(x), ge.sgv(v))
        ),
        "passing to some": pair(
            lambda one, two, x, y, z, u, v, w: ge.reroute_inputs(
                ge.sgv(x, y), ge.sgv(v, z).remap_inputs([1, 0])
            )
        ),
        "both passing to passing": pair(
            lambda one, two, x, y, z, u, v, w: ge.reroute_ios(ge.sgv(x), ge.sgv(v))
        ),
        "swapped passing": pair(
            lambda one, two, x, y, z, u, v, w: ge.swap_inputs(ge.sgv(x), ge.sgv(v))
        ),
        "swapped passing and not": pair(
            lambda one, two, x, y, z, u, v, w: ge.swap_inputs(ge.sgv(x), ge.sgv(w.op))
        ),
        "to passing and more": pair(
            lambda one, two, x, y, z, u, v, w: ge.reroute_inputs(
                ge.sgv(y.op, z.op, x), ge.sgv(v.op, w)
            )
        ),
        "mapped": pair(
            lambda one, two, x, y, z, u, v, w: ge.reroute_inputs(
                one, ge.sgv(one.ops, two.ops).remap_inputs([1])
            )
        ),
        "mapped default": pair(
            lambda one, two, x, y, z, u, v, w: ge.reroute_inputs(
                one, ge.sgv(one.ops, two.ops).remap_inputs([1])
            )[1].remap_default()
        ),
        "outputs between": chain(lambda a, b, c, d, e, f, g: ge.reroute_outputs(f.op, e.op)),
        "outputs between swapped": chain(lambda a, b, c, d, e, f, g: ge.swap_outputs(e.op, f.op)),
        "inputs between": chain(lambda a, b, c, d, e, f, g: ge.reroute_inputs(e.op, g.op)),
        "inputs between swapped": chain(lambda a, b, c, d, e, f, g: ge.swap_inputs(e.op, g.op)),
        "wrong": pair(lambda one, two, *_: ge.reroute_inputs(one, 3)),
        "foreign": pair(lambda one, two, *_: ge.reroute_inputs(one, ge.sgv(foreign_tensor().op))),
    }


def foreign_tensor():
    with tf.Graph().as_default():
        return tf.negative(tf.constant([1.0, 2.0], name="foreign"), name="negative")


@question
def control_inputs():
    return {
        "add": chain(lambda a, b, c, d, e, f, g: ge.add_control_inputs(f.op, d.op)),
        "add many": chain(lambda a, b, c, d, e, f, g: ge.add_control_inputs(f.op, [d.op, a.op])),
        "add tensor": chain(lambda a, b, c, d, e, f, g: ge.add_control_inputs(f, d.op)).split(":")[
            0
        ],
        "add of tensor": chain(lambda a, b, c, d, e, f, g: ge.add_control_inputs(f.op, d)),
        "add again": chain(lambda a, b, c, d, e, f, g: ge.add_control_inputs(g.op, d.op)),
        "remove": chain(lambda a, b, c, d, e, f, g: ge.remove_control_inputs(g.op, d.op)),
        "remove many": chain(lambda a, b, c, d, e, f, g: ge.remove_control_inputs(g.op, [d.op])),
        "remove missing": chain(lambda a, b, c, d, e, f, g: ge.remove_control_inputs(f.op, d.op)),
        "remove tensor": chain(lambda a, b, c, d, e, f, g: ge.remove_control_inputs(g, d.op)).split(
            ":"
        )[0],
        "remove some": chain(
            lambda a, b, c, d, e, f, g: [
                ge.add_control_inputs(g.op, [a.op, b.op]),
                ge.remove_control_inputs(g.op, [a.op]),
            ]
        ),
    }


@question
def connected():
    return {
        "one": pair(lambda one, two, *_: ge.connect(one, two)),
        "disconnect": pair(lambda one, two, *_: ge.connect(one, two, disconnect_first=True)),
        "operations": pair(lambda one, two, x, y, z, u, v, w: ge.connect(x.op, v.op)),
        "disconnect operations": pair(
            lambda one, two, x, y, z, u, v, w: ge.connect(x.op, v.op, True)
        ),
        "chain": chain(lambda a, b, c, d, e, f, g: ge.connect(e.op, g.op)),
        "different": pair(lambda one, two, *_: ge.connect(one, two.remap_inputs([]))),
        "wrong": pair(lambda one, two, *_: ge.connect(one, 3)),
        "foreign": pair(lambda one, two, *_: ge.connect(one, foreign_tensor().op)),
    }


def in_place(a, b, c, d, e, f, g):
    view = ge.sgv(e.op)
    same = [
        ge.detach_inputs(view)[0] is view,
        ge.detach_outputs(view)[0] is view,
        ge.detach(view)[0] is view,
        ge.bypass(view)[0] is view,
        ge.connect(view, g.op)[0] is view,
    ]
    return call(lambda: view), str(same)


@question
def detached():
    return {
        "inputs": chain(lambda a, b, c, d, e, f, g: ge.detach_inputs([c.op, d.op])),
        "inputs of one": chain(lambda a, b, c, d, e, f, g: ge.detach_inputs(f.op)),
        "inputs and control": chain(lambda a, b, c, d, e, f, g: ge.detach_inputs(g.op, True)),
        "inputs of view": chain(
            lambda a, b, c, d, e, f, g: ge.detach_inputs(ge.sgv(c.op, d.op).remap_inputs([1]))
        ),
        "outputs": chain(lambda a, b, c, d, e, f, g: ge.detach_outputs([c.op, d.op])),
        "outputs of one": chain(lambda a, b, c, d, e, f, g: ge.detach_outputs(f.op)),
        "outputs of end": chain(lambda a, b, c, d, e, f, g: ge.detach_outputs(g.op)),
        "outputs and control": chain(
            lambda a, b, c, d, e, f, g: ge.detach_outputs(d.op, ge.ControlOutputs(d.graph))
        ),
        "all": chain(lambda a, b, c, d, e, f, g: ge.detach([c.op, d.op])),
        "all of one": chain(lambda a, b, c, d, e, f, g: ge.detach(e.op)),
        "all and control": chain(
            lambda a, b, c, d, e, f, g: ge.detach(d.op, control_ios=ge.ControlOutputs(d.graph))
        ),
        "all and control inputs": chain(
            lambda a, b, c, d, e, f, g: ge.detach(g.op, control_inputs=True)
        ),
        "control inputs": chain(lambda a, b, c, d, e, f, g: ge.detach_control_inputs(g.op)),
        "control inputs inside": chain(
            lambda a, b, c, d, e, f, g: ge.detach_control_inputs([d.op, g.op])
        ),
        "control outputs": chain(
            lambda a, b, c, d, e, f, g: ge.detach_control_outputs(d.op, ge.ControlOutputs(d.graph))
        ),
        "control outputs inside": chain(
            lambda a, b, c, d, e, f, g: ge.detach_control_outputs(
                [d.op, g.op], ge.ControlOutputs(d.graph)
            )
        ),
        "bypass": chain(lambda a, b, c, d, e, f, g: ge.bypass(e.op)),
        "bypass of end": chain(lambda a, b, c, d, e, f, g: ge.bypass(g.op)),
        "bypass of two": chain(lambda a, b, c, d, e, f, g: ge.bypass(c.op)).split(";")[0],
        "bypass of view": chain(
            lambda a, b, c, d, e, f, g: ge.bypass(ge.sgv(c.op).remap_inputs([1]))
        ),
        "bypass of pair": pair(lambda one, two, *_: ge.bypass(one)),
        "outputs of two": chain(lambda a, b, c, d, e, f, g: ge.detach_outputs([d.op, g.op])),
        "outputs mapped": chain(
            lambda a, b, c, d, e, f, g: ge.detach_outputs(ge.sgv(c.op, d.op).remap_outputs([1]))
        ),
        "all of view": chain(lambda a, b, c, d, e, f, g: ge.detach(ge.sgv(d.op, c.op))),
        "in place": chain(in_place),
        "passing inputs": chain(lambda a, b, c, d, e, f, g: ge.detach_inputs(ge.sgv(c.op, e))),
        "passing": chain(lambda a, b, c, d, e, f, g: ge.detach(ge.sgv(c.op, e))),
        "passing outputs": chain(lambda a, b, c, d, e, f, g: ge.detach_outputs(ge.sgv(c.op, e))),
        "wrong": chain(lambda a, b, c, d, e, f, g: ge.detach(3)),
        "tensor": chain(lambda a, b, c, d, e, f, g: ge.detach_inputs(c)),
    }


@question
def values():
    a, b, c, d, e, f, g = make_chain()
    ge.reroute_ts([a], [b], can_modify=[d.op])
    _, (place,) = ge.detach_inputs(e.op)
    ge.reroute_ts([d], [place])
    return {"g": g, "d": d, "place": place.op.type}


if __name__ == "__main__":
    main()
