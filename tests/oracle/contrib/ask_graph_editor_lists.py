"""Questions about `tf.contrib.graph_editor`: lists of operations and tensors, and names."""

import tensorflow as tf
from asking import main, question
from editing import call, make_chain, shape_text

ge = tf.contrib.graph_editor


@question
def lists():
    a, b, c, d, e, f, g = make_chain()
    graph = tf.get_default_graph()
    with tf.Graph().as_default():
        foreign = tf.constant(1.0, name="foreign")
    ops, ts = ge.make_list_of_op, ge.make_list_of_t
    return {
        "op": call(ops, a.op),
        "ops": call(ops, [a.op, f.op, a.op]),
        "ops tuple": type(ops((a.op, f.op))).__name__,
        "ops of graph": call(ops, graph),
        "ops of forbidden graph": call(ops, graph, allow_graph=False),
        "ops of tensors": call(ops, [a]),
        "ops of tensors ignored": call(ops, [a, f.op], ignore_ts=True),
        "ops of two graphs": call(ops, [a.op, foreign.op]),
        "ops of two graphs unchecked": call(ops, [a.op, foreign.op], check_graph=False),
        "ops of wrong with ignored": call(ops, [3], ignore_ts=True),
        "ts of wrong with ignored": call(ts, [3], ignore_ops=True),
        "ops of number": call(ops, 3),
        "ops of numbers": call(ops, [3]),
        "ops of none": call(ops, None),
        "ops empty": call(ops, []),
        "ops of nested": call(ops, [[a.op]]),
        "ops of dict": call(ops, {"a": a.op}.values()),
        "t": call(ts, a),
        "ts": call(ts, [a, f, a]),
        "ts of graph": call(ts, graph),
        "ts of forbidden graph": call(ts, graph, allow_graph=False),
        "ts of operations": call(ts, [a.op]),
        "ts of operations ignored": call(ts, [a.op, f], ignore_ops=True),
        "ts of two graphs": call(ts, [a, foreign]),
        "ts of two graphs unchecked": call(ts, [a, foreign], check_graph=False),
        "ts of number": call(ts, 3),
        "ts empty": call(ts, []),
        "tensors": call(ge.get_tensors, graph),
        "tensors wrong": call(ge.get_tensors, a),
        "unique graph": ge.util.get_unique_graph([a, f.op]) is graph,
        "unique graph of two": call(ge.util.get_unique_graph, [a, foreign]),
        "unique graph of none": call(ge.util.get_unique_graph, []),
        "unique graph or none": ge.util.get_unique_graph([], none_if_empty=True) is None,
        "unique graph of number": call(ge.util.get_unique_graph, 3),
        "check graphs": call(ge.util.check_graphs, a, foreign),
        "check graphs same": call(ge.util.check_graphs, a, b),
        "iterable": [ge.util.is_iterable(one) for one in ([], (), "a", 3, a, {})],
    }


@question
def placeholders():
    a = tf.constant([1.0, 2.0], name="a")
    name = ge.placeholder_name
    with tf.name_scope("here"):
        b = tf.constant([1, 2], name="b")
        names_here = [name(), name(a), name(b), name(a, scope="s"), name(a, scope="")]
        made = ge.ph(tf.int32)
        other = ge.make_placeholder_from_tensor(a)
    texts = "geph geph__a geph__a_3 geph__a_3_1 geph__ geph_a_0 x__a_0 geph__A.b_c_0 hgeph__a_0"
    similar = [tf.constant(1.0, name=text) for text in texts.split()]
    return {
        "names": [name(), name(a), name(b), name(b, scope="x"), name(b, scope="")],
        "names here": names_here,
        "prefix": [name(prefix="p"), name(b, prefix="p"), name(scope="q/", prefix="p")],
        "wrong": call(name, 3).split(":")[0],
        "made": [made.name, made.dtype.name, shape_text(made)],
        "other": [other.name, other.dtype.name, shape_text(other)],
        "shape": shape_text(ge.ph(tf.float32, [2, None], scope="deep/scope", prefix="x")),
        "of placeholders": [name(one) for one in similar],
        "of placeholders with prefix": [name(one, prefix="x") for one in similar],
        "second": call(ge.ph, tf.int32),
        "scoped": call(ge.ph, tf.float32, [2, None], scope="deep/scope", prefix="x"),
        "from": call(ge.make_placeholder_from_tensor, b),
        "from twice": call(ge.make_placeholder_from_tensor, b),
        "from scope": call(ge.make_placeholder_from_tensor, b, scope="there", prefix="y"),
        "type": made.op.type,
        "from dtype": call(ge.make_placeholder_from_dtype_and_shape, tf.int64, [3]),
        "same": ge.ph is ge.make_placeholder_from_dtype_and_shape,
    }


@question
def names_of_other_graphs():
    a, b, c, d, e, f, g = make_chain()
    with tf.Graph().as_default() as other:
        with tf.name_scope("copied"):
            make_chain()
        make_chain()
    find, find_one = ge.util.find_corresponding, ge.util.find_corresponding_elem
    return {
        "one": call(find_one, d, other),
        "one scope": call(find_one, d.op, other, dst_scope="copied"),
        "none": call(find_one, a, other, dst_scope="nowhere"),
        "many": call(find, [a, e.op], other, "copied"),
        "wrong": call(find_one, 3, other),
        "wrong graph": call(find_one, a, 3),
        "scopes": [ge.util.scope_finalize(one) for one in ("", "a", "a/")],
        "directories": [ge.util.scope_dirname(one) for one in ("", "a", "a/", "a/b", "a/b/")],
        "bases": [ge.util.scope_basename(one) for one in ("", "a", "a/", "a/b", "a/b/")],
    }


if __name__ == "__main__":
    main()
