"""Questions about `tf.contrib.graph_editor`: the selection of operations and tensors."""

import tensorflow as tf
from asking import main, question, signature
from editing import call, make_chain, names, walked

ge = tf.contrib.graph_editor
FUNCTIONS = [
    "can_be_regex",
    "check_cios",
    "compute_boundary_ts",
    "filter_ops",
    "filter_ops_from_regex",
    "filter_ts",
    "filter_ts_from_regex",
    "get_backward_walk_ops",
    "get_consuming_ops",
    "get_forward_walk_ops",
    "get_generating_ops",
    "get_name_scope_ops",
    "get_ops_ios",
    "get_tensors",
    "get_walks_intersection_ops",
    "get_walks_union_ops",
    "get_within_boundary_ops",
    "make_list_of_op",
    "make_list_of_t",
    "make_placeholder_from_dtype_and_shape",
    "make_placeholder_from_tensor",
    "make_regex",
    "ph",
    "placeholder_name",
]


@question
def arguments():
    return {name: ", ".join(signature(getattr(ge, name))) for name in FUNCTIONS}


@question
def backward_walks():
    a, b, c, d, e, f, g = make_chain()
    walk = ge.get_backward_walk_ops
    return {
        "all": walked(walk, g),
        "operation": walked(walk, f.op),
        "list": walked(walk, [c, d]),
        "not inclusive": walked(walk, [f], inclusive=False),
        "not inclusive of two": walked(walk, [f, d], inclusive=False),
        "of operations not inclusive": walked(walk, [f.op], inclusive=False),
        "within": walked(walk, f, within_ops=[f.op, c.op, d.op, a.op]),
        "within function": walked(walk, f, within_ops_fn=lambda op: op.name != "outer/d"),
        "stop": walked(walk, f, stop_at_ts=[c]),
        "stop at seed": walked(walk, f, stop_at_ts=[f]),
        "control": walked(walk, g, within_ops=[g.op, d.op, c.op], control_inputs=True),
        "no control": walked(walk, g, within_ops=[g.op, d.op, c.op]),
        "empty": walked(walk, []),
        "without seed": walked(walk, f, within_ops=[c.op]),
    }


@question
def forward_walks():
    a, b, c, d, e, f, g = make_chain()
    walk = ge.get_forward_walk_ops
    outputs = ge.ControlOutputs(d.graph)
    return {
        "all": walked(walk, a),
        "operation": walked(walk, b.op),
        "list": walked(walk, [d, b]),
        "not inclusive": walked(walk, [b], inclusive=False),
        "of operations not inclusive": walked(walk, [d.op], inclusive=False),
        "within": walked(walk, a, within_ops=[a.op, c.op, f.op]),
        "within function": walked(walk, a, within_ops_fn=lambda op: op.name != "outer/d"),
        "stop": walked(walk, b, stop_at_ts=[c]),
        "stop at seed": walked(walk, b, stop_at_ts=[b]),
        "control": call(walk, d, control_outputs=True),
        "control object": walked(walk, d.op, within_ops=[d.op, g.op], control_outputs=outputs),
        "no control": walked(walk, d.op, within_ops=[d.op, g.op]),
        "empty": walked(walk, []),
        "without seed": walked(walk, a, within_ops=[c.op]),
    }


@question
def failing_walks():
    a, b, c, d, e, f, g = make_chain()
    with tf.Graph().as_default():
        foreign = tf.constant(1.0, name="foreign")
    back, ahead = ge.get_backward_walk_ops, ge.get_forward_walk_ops
    return {
        "name": call(back, "f"),
        "number": call(ahead, 3),
        "none": call(back, None),
        "stop operations": call(back, f, stop_at_ts=[c.op]),
        "within tensors": call(back, f, within_ops=[c]),
        "two graphs": call(back, [f, foreign]),
        "within another graph": call(back, f, within_ops=[foreign.op]),
        "mixed": call(back, [f, d.op]),
        "mixed 2": call(ahead, [d.op, f]),
        "seed graph": call(back, tf.get_default_graph()),
        "control object": call(ahead, a, control_outputs=3),
        "variable": call(back, tf.Variable(1.0, name="v")),
    }


@question
def both_walks():
    a, b, c, d, e, f, g = make_chain()
    outputs = ge.ControlOutputs(d.graph)
    meet, join = ge.get_walks_intersection_ops, ge.get_walks_union_ops
    return {
        "between": walked(meet, [c], [e]),
        "between exclusive": walked(meet, [c], [e], forward_inclusive=False),
        "between exclusive 2": walked(meet, [c.op], [e.op], backward_inclusive=False),
        "apart": walked(meet, [e], [c]),
        "within": walked(meet, [a], [f], within_ops=[a.op, c.op, f.op]),
        "within function": walked(meet, a, f, within_ops_fn=lambda op: op.name != "outer/d"),
        "control": walked(meet, d, g, control_inputs=True),
        "control in": walked(meet, d.op, g.op, within_ops=[d.op, g.op], control_inputs=True),
        "control out": walked(meet, d.op, g.op, within_ops=[d.op, g.op], control_outputs=outputs),
        "control in and out": walked(
            meet, d.op, g.op, within_ops=[d.op, g.op], control_ios=outputs
        ),
        "control both": walked(meet, d, g, control_ios=outputs),
        "union": walked(join, [e], [c]),
        "union within": walked(join, [e], [c], within_ops=[e.op, c.op, f.op, b.op]),
        "union exclusive": walked(join, [e], [c], backward_inclusive=False),
        "union exclusive 2": walked(join, [e], [c], forward_inclusive=False),
    }


@question
def boundaries():
    a, b, c, d, e, f, g = make_chain()
    operations = tf.get_default_graph().get_operations()
    outputs = ge.ControlOutputs(d.graph)
    within = ge.get_within_boundary_ops
    return {
        "one": walked(within, operations, d.op),
        "boundary": walked(within, operations, [d.op], boundary_ops=[c.op, e.op]),
        "boundary tensors": walked(within, operations, [d], boundary_ops=[c.op, f.op]),
        "exclusive": walked(within, operations, [d.op], boundary_ops=[c.op, f.op], inclusive=False),
        "some": walked(within, [c.op, d.op, e.op], [d.op]),
        "control": walked(within, [d.op, g.op, a.op], [d.op], control_inputs=True),
        "control of g": walked(within, [d.op, g.op], [g.op], control_inputs=True),
        "control outputs": walked(within, [d.op, g.op], [d.op], control_outputs=outputs),
        "control outputs of g": walked(within, [d.op, g.op], [g.op], control_outputs=outputs),
        "no control": walked(within, [d.op, g.op], [d.op]),
        "no control of g": walked(within, [d.op, g.op], [g.op]),
        "border and control": walked(within, operations, [d.op], [c.op, e.op], control_inputs=True),
        "apart": walked(within, [b.op, d.op], [d.op]),
        "apart with g": walked(within, [b.op, d.op, g.op], [d.op]),
        "without e": walked(within, [op for op in operations if op != e.op], [d.op]),
        "without e and a": walked(
            within, [op for op in operations if op not in (e.op, a.op)], [d.op]
        ),
        "c apart": walked(within, [c.op, f.op, g.op], [f.op]),
        "of tensor": call(within, operations, [d]),
        "boundary tensor": call(within, operations, [d.op], boundary_ops=[c]),
        "seed apart": walked(within, [c.op], [d.op]),
        "seed is a boundary": call(within, operations, [d.op], boundary_ops=[d.op]),
        "boundary apart": walked(within, [d.op, c.op], [d.op], boundary_ops=[f.op]),
        "no boundary reached": walked(within, [d.op, c.op, f.op], [d.op], boundary_ops=[f.op]),
        "computed": [names(ts) for ts in ge.compute_boundary_ts([c.op, d.op, e.op])],
        "computed all": [names(ts) for ts in ge.compute_boundary_ts(operations)],
        "computed apart": [names(ts) for ts in ge.compute_boundary_ts([f.op, c.op])],
        "computed wrong": call(ge.compute_boundary_ts, [c]),
    }


@question
def inputs_and_outputs():
    a, b, c, d, e, f, g = make_chain()
    outputs = ge.ControlOutputs(tf.get_default_graph())
    return {
        "generating": call(ge.get_generating_ops, [f, a, f]),
        "consuming": call(ge.get_consuming_ops, [a, c]),
        "consuming none": call(ge.get_consuming_ops, [g]),
        "generating wrong": call(ge.get_generating_ops, [a.op]),
        "consuming wrong": call(ge.get_consuming_ops, 3),
        "neighbours": call(ge.get_ops_ios, [d.op]),
        "neighbours with control": call(ge.get_ops_ios, [g.op], control_inputs=True),
        "neighbours with outputs": call(ge.get_ops_ios, [d.op], control_outputs=outputs),
        "control outputs": call(outputs.get, d.op),
        "no control outputs": call(outputs.get, g.op),
        "all control outputs": [
            names(op) + ": " + names(ops) for op, ops in outputs.get_all().items()
        ],
        "graph": outputs.graph is d.graph,
        "updated": outputs.update() is outputs,
        "wrong control outputs": call(ge.ControlOutputs, d),
        "cios": str(ge.check_cios()),
        "cios in": str(ge.check_cios(control_inputs=True)),
        "cios out": [type(one).__name__ for one in ge.check_cios(control_outputs=outputs)],
        "cios io": [type(one).__name__ for one in ge.check_cios(control_ios=outputs)],
        "cios true": call(ge.check_cios, control_ios=True),
        "cios wrong": call(ge.check_cios, control_outputs=True),
        "cios both": call(ge.check_cios, True, outputs, outputs),
    }


@question
def filters():
    a, b, c, d, e, f, g = make_chain()
    operations = tf.get_default_graph().get_operations()
    return {
        "true": call(ge.filter_ops, operations, True),
        "regex": call(ge.filter_ops_from_regex, operations, "outer"),
        "regex inside": call(ge.filter_ops_from_regex, operations, "inner"),
        "regex end": call(ge.filter_ops_from_regex, operations, "/.$"),
        "function": call(ge.filter_ops, operations, lambda op: op.type == "Const"),
        "of tensors": call(ge.filter_ops, [a, f], True),
        "of graph": call(ge.filter_ops, tf.get_default_graph(), True),
        "false": call(ge.filter_ops, operations, False),
        "compiled": call(ge.filter_ops_from_regex, operations, ge.make_regex("^f")),
        "none": call(ge.filter_ops, operations, None),
        "ts true": call(ge.filter_ts, operations, True),
        "ts regex": call(ge.filter_ts_from_regex, operations, "outer"),
        "ts regex inside": call(ge.filter_ts_from_regex, operations, "inner|d:0"),
        "ts regex number": call(ge.filter_ts_from_regex, operations, ":1"),
        "ts function": call(ge.filter_ts, operations, lambda t: t.op.type == "Const"),
        "ts of tensors": call(ge.filter_ts, [a], True),
        "ts wrong": call(ge.filter_ts, operations, 3),
        "scope": call(ge.get_name_scope_ops, operations, "outer"),
        "scope with slash": call(ge.get_name_scope_ops, operations, "outer/"),
        "scope of part": call(ge.get_name_scope_ops, operations, "out"),
        "scope empty": call(ge.get_name_scope_ops, operations, ""),
        "scope of operation": call(ge.get_name_scope_ops, operations, "outer/d"),
        "scope regex": call(ge.get_name_scope_ops, operations, "o.ter"),
        "can be regex": [ge.can_be_regex(one) for one in ("a", ge.make_regex("a"), 3)],
        "regex pattern": ge.make_regex("a.*").pattern,
        "regex wrong": call(ge.make_regex, 3),
    }


@question
def selections():
    a, b, c, d, e, f, g = make_chain()
    graph = tf.get_default_graph()
    both = ge.select_ops_and_ts
    return {
        "ops": call(ge.select_ops, "^outer/", graph=graph),
        "ops inside": call(ge.select_ops, "inner", graph=graph),
        "ops of two": call(ge.select_ops, "^f", "^outer/c", "^f", graph=graph),
        "ops and op": call(ge.select_ops, a.op, [c.op, "^g"], graph=graph),
        "ops of op": call(ge.select_ops, f.op, a.op),
        "ops where": call(ge.select_ops, f.op, a.op, positive_filter=lambda op: op.inputs),
        "ops of graph": call(ge.select_ops, graph),
        "ops of tensors": call(ge.select_ops, a),
        "ops without graph": call(ge.select_ops, "a"),
        "ops of ts regex": call(ge.select_ops, "(?#ts)a", graph=graph),
        "ops of ops regex": call(ge.select_ops, "(?#ops)^a", graph=graph),
        "ops restricted": call(ge.select_ops, "(?#ops)^a", graph=graph, restrict_ops_regex=True),
        "ops restricted 2": call(ge.select_ops, "^a", graph=graph, restrict_ops_regex=True),
        "ops wrong": call(ge.select_ops, 3, graph=graph),
        "ops unknown": call(ge.select_ops, "a", graph=graph, color=3),
        "ops wrong graph": call(ge.select_ops, "a", graph=3),
        "ts": call(ge.select_ts, "^outer/", graph=graph),
        "ts inside": call(ge.select_ts, "inner", graph=graph),
        "ts of tensors": call(ge.select_ts, f, [a], f),
        "ts where": call(ge.select_ts, f, a, positive_filter=lambda t: t.op.inputs),
        "ts of ops": call(ge.select_ts, a.op),
        "ts without graph": call(ge.select_ts, "a"),
        "ts of ts regex": call(ge.select_ts, "(?#ts)^a", graph=graph),
        "ts of ops regex": call(ge.select_ts, "(?#ops)^a", graph=graph),
        "ts restricted": call(ge.select_ts, "(?#ts)^a", graph=graph, restrict_ts_regex=True),
        "ts restricted 2": call(ge.select_ts, "^a", graph=graph, restrict_ts_regex=True),
        "ts unknown": call(ge.select_ts, "a", graph=graph, color=3),
        "both": [names(one) for one in both("^outer/", "(?#ts)^f", a.op, b, graph=graph)],
        "both of ts only": [names(one) for one in both("(?#ts)^f", graph=graph)],
        "both without graph": call(both, "f"),
        "both of graph": call(both, graph),
        "both where": call(both, "^f", graph=graph, positive_filter=lambda one: True),
        "both restricted": call(both, "^f", graph=graph, restrict_ops_regex=True).split(":")[0],
        "nothing": call(ge.select_ops),
        "no regex": call(ge.select_ops, ge.make_regex("^a"), graph=graph),
        "ts wrong": call(ge.select_ts, 3, graph=graph),
        "both unknown": call(both, "f", graph=graph, color=3),
    }


if __name__ == "__main__":
    main()
