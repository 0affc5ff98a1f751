"""Questions about `tf.contrib.graph_editor`: its Transformer, and copies of unusual parts."""

import tensorflow as tf
from asking import main, question
from editing import call, describe, make_chain, wiring

ge = tf.contrib.graph_editor


@question
def of_variables():
    v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0]), use_resource=False)
    r = tf.get_variable("r", initializer=tf.constant([3.0, 4.0]), use_resource=True)
    product = tf.multiply(v, r, name="product")
    with tf.device("/cpu:0"):
        placed = tf.negative(product, name="placed")
    with tf.colocate_with(product):
        beside = tf.exp(product, name="beside")
    view, info = ge.copy([product.op, placed.op, beside.op])
    return {
        "copies": describe(view),
        "device": info.transformed(placed).device,
        "colocated": [one.decode() for one in info.transformed(beside).op.colocation_groups()],
        "reads": ge.graph_replace(beside, {product: product + 1.0}),
        "original": beside,
    }


@question
def handled():
    a, b, c, d, e, f, g = make_chain()
    transformer = ge.Transformer()
    seen = []

    def copy_op(info, op, new_inputs):
        seen.append(op.name)
        return ge.copy_op_handler(info, op, new_inputs)

    def keep(info, t):
        seen.append(t.name)
        return t

    # `transform_original_op_handler` is about an attribute that TensorFlow has no more.
    names = sorted(name for name in vars(transformer) if "original" not in name)
    transformer.transform_op_handler = copy_op
    transformer.transform_external_input_handler = keep
    view, info = transformer(ge.sgv(c.op, d.op), a.graph, "new")
    return {
        "names": names,
        "seen": sorted(seen),
        "view": describe(view),
        "operations": describe(info._transformed_ops),
        "wiring": [line for line in wiring() if line.startswith("new")],
    }


@question
def conditions():
    _, _, _, d, e, _, _ = make_chain()
    condition = tf.placeholder_with_default(True, [], name="condition")
    chosen = tf.cond(condition, lambda: d * 2.0, lambda: e * 3.0, name="chosen")
    new = tf.constant([0.5, 0.25], name="new")
    _, info = ge.copy_with_input_replacements(ge.sgv("^chosen", graph=d.graph), {})
    return {
        "original": chosen,
        "replaced": ge.graph_replace(chosen, {d: new}),
        "copied": info.transformed(chosen),
    }


@question
def copied_assignments():
    _, _, _, d, _, _, _ = make_chain()
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=False)
    y = tf.assign_add(v, d, name="y")
    view, info = ge.copy_with_input_replacements(y.op, {})
    return {"type": str(view.ops[0].outputs[0].dtype), "run": info.transformed(y)}


@question
def kept_operations():
    a, b, c, d, e, f, g = make_chain()

    def copy_some(info, op, new_inputs):
        if op == c.op:
            return op, list(op.outputs)
        return ge.copy_op_handler(info, op, new_inputs)

    transformer = ge.Transformer()
    transformer.transform_op_handler = copy_some
    return {"result": call(transformer, ge.sgv(c.op, d.op, g.op), a.graph, "")}


@question
def other_handlers():
    a, b, c, d, e, f, g = make_chain()
    transformer = ge.Transformer()
    transformer.transform_external_input_handler = ge.keep_t_if_possible_handler
    transformer.transform_external_hidden_input_handler = ge.replace_t_with_placeholder_handler
    transformer.transform_control_input_handler = lambda info, op: b.op
    transformer.assign_collections_handler = lambda info, elem, elem_: None
    view, _ = transformer(ge.sgv(d.op, g.op).remap_inputs([0]), a.graph, "new", "")
    with tf.Graph().as_default() as other:
        transformer = ge.Transformer()
        transformer.transform_control_input_handler = lambda info, op: (
            ge.transform_op_if_inside_handler(info, op, keep_if_possible=False)
        )
        transformer(ge.sgv(d.op, g.op), other, "new")
        transformer(ge.sgv(g.op), other, "")
    return {"wiring": wiring(), "other": wiring(other)}


@question
def loops():
    """Copies a loop into another graph: two loops of one graph cannot have the same name."""
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        out = tf.while_loop(lambda x: x < 10.0, lambda x: x * 3.0, [a], name="loop")
        tf.negative(out, name="after")
    other = tf.Graph()
    view, _ = ge.copy(ge.sgv(graph), other)
    with tf.Session(graph=other) as session:
        after = session.run("after:0")
    return {
        "after": float(after),
        "same": [one.name for one in view.ops] == [one.name for one in graph.get_operations()],
    }


@question
def copies_of_changed_graphs():
    a, b, c, d, e, f, g = make_chain()
    later = tf.negative(b, name="later")
    ge.reroute_ts([later], [a], can_modify=[d.op])
    _, info = ge.copy_with_input_replacements([later.op, c.op, d.op], {b: a})
    return {"d": d, "copied": info.transformed(d)}


if __name__ == "__main__":
    main()
