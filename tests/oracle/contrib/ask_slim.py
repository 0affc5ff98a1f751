"""Questions about arg_scope and other names behind tf.contrib.slim."""

import contextlib
import io

import tensorflow as tf
from asking import main, numbers, question, signature

slim = tf.contrib.slim
framework = tf.contrib.framework


@framework.add_arg_scope
def first(a, b=2, c=None):
    """Its arguments as text."""
    return f"a={a} b={b} c={c}"


@slim.add_arg_scope
def second(*args, **kwargs):
    return f"{args} {sorted(kwargs.items())}"


def plain(a=1):
    return a


@question
def sizes_of_a_graph():
    analyzer = slim.model_analyzer
    with tf.Graph().as_default():
        tf.get_variable("a/w", [3, 4])
        tf.get_variable("n", [], tf.float64)
        variables = tf.global_variables()
        described = [analyzer.tensor_description(each) for each in variables]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            found = [list(map(int, analyzer.analyze_vars(variables, print_info=True)))]
    with tf.Graph().as_default() as graph:
        described.append(analyzer.tensor_description(tf.placeholder(tf.float32, [None, 3], "x")))
        tf.constant([[1.0, 2.0]], name="c")
        tf.placeholder(tf.float32, None, "u")
        tf.no_op("nothing")
        with contextlib.redirect_stdout(printed):
            found.append(int(analyzer.analyze_ops(graph, print_info=True)))
        found.append(int(analyzer.analyze_ops(graph)))
    lines = printed.getvalue().splitlines()
    return {"found": repr(found), "described": described, "lines": lines}


@question
def scopes():
    said = []
    with slim.arg_scope([first, second], b=3):
        said += [first(1), second(1), first(1, b=4), first(1, c=5)]
        with slim.arg_scope([first], c=6) as inner:
            said += [first(1), second()]
            with slim.arg_scope([first], b=7):
                said.append(first(0))
        said.append(first(1))
    with slim.arg_scope(inner):
        said += [first(2), second(2)]
        with slim.arg_scope((second,), d=1):
            said.append(second())
    return {"said": said + [first(1)]}


@question
def an_argument_by_place_and_scope():
    with slim.arg_scope([first], b=3):
        return {"said": first(1, 4)}


@question
def scope_of_a_plain_function():
    with slim.arg_scope([plain], a=2):
        return {"said": plain()}


@question
def scope_of_one_function():
    with slim.arg_scope(first, b=2):
        return {"said": first(1)}


@question
def scope_again_with_arguments():
    with slim.arg_scope([first], b=2) as scope:
        pass
    with slim.arg_scope(scope, b=3):
        return {"said": first(1)}


@question
def scope_of_a_wrong_argument():
    with slim.arg_scope([first], d=2):
        return {"said": first(1)}


@question
def what_is_known_of_scopes():
    with slim.arg_scope([first], b=3):
        inside = len(slim.current_arg_scope())
    return {
        "has": [str(slim.has_arg_scope(one)) for one in (first, plain, slim.conv2d, slim.repeat)],
        "arguments": sorted(slim.arg_scoped_arguments(first)),
        "inside": inside,
        "outside": len(slim.current_arg_scope()),
        "name": [first.__name__, first.__doc__],
    }


@question
def which_take_scopes():
    names = "avg_pool2d batch_norm bias_add bow_encoder conv2d conv2d_transpose convolution2d "
    names += "dropout embed_sequence flatten fully_connected group_norm instance_norm layer_norm "
    names += "max_pool2d maxout model_variable one_hot_encoding repeat separable_conv2d softmax "
    names += "stack unit_norm variable local_variable optimize_loss l2_regularizer relu"
    return {one: str(slim.has_arg_scope(getattr(slim, one))) for one in names.split()}


@question
def losses_are_in_their_older_order():
    labels, logits = tf.constant([[0.0, 1.0], [1.0, 0.0]]), tf.constant(numbers(2, 2))
    slim.losses.softmax_cross_entropy(logits, labels, weights=0.5)
    slim.losses.sigmoid_cross_entropy(logits, labels)
    slim.losses.mean_squared_error(logits, tf.constant(numbers(2, 2, start=5)))
    return {
        "kept": slim.losses.get_losses(),
        "total": slim.losses.get_total_loss(),
        "signature": signature(slim.losses.softmax_cross_entropy),
    }


@question
def collections_as_dicts():
    with slim.arg_scope([slim.fully_connected, slim.flatten], outputs_collections="points"):
        with tf.variable_scope("net"):
            output = slim.fully_connected(tf.constant(numbers(2, 3)), 4, scope="one")
            output = slim.fully_connected(output, 4)
        slim.flatten(output, scope="flat")
    points = slim.utils.convert_collection_to_dict("points")
    return {
        "keys": list(points),
        "names": [one.name for one in points.values()],
        "aliases": slim.utils.gather_tensors_aliases(list(points.values())),
        "left": len(slim.utils.convert_collection_to_dict("points", clear_collection=True)),
        "cleared": len(tf.get_collection("points")),
    }


@question
def collected_outputs():
    x = tf.identity(numbers(2), name="x")
    slim.utils.collect_named_outputs("points", "first", x)
    slim.utils.collect_named_outputs("points", "second", x)
    slim.utils.append_tensor_alias(x, "third")
    return {
        "keys": list(slim.utils.convert_collection_to_dict("points")),
        "aliases": x.aliases,
        "members": len(tf.get_collection("points")),
    }


@question
def utils():
    x = tf.placeholder(tf.float32, [None, 3, 4])
    return {
        "last": slim.utils.last_dimension(x.shape),
        "pairs": [list(slim.utils.two_element_tuple(one)) for one in (2, [3, 4], (5, 6))],
        "names": slim.utils.get_variable_collections(["a"], "weights"),
        "of a dict": slim.utils.get_variable_collections({"weights": ["b"]}, "weights"),
        "none": str(slim.utils.get_variable_collections({"weights": ["b"]}, "biases")),
        "integers": list(slim.utils.n_positive_integers(3, 2)),
        "constants": [str(slim.utils.constant_value(one)) for one in (True, tf.constant(False))],
        "cond": slim.utils.smart_cond(True, lambda: tf.constant(1), lambda: tf.constant(2)),
    }


@question
def a_last_dimension_that_is_not_known():
    return {"last": slim.utils.last_dimension(tf.TensorShape([2, None]))}


@question
def a_train_op():
    v = tf.get_variable("v", initializer=numbers(2, 2))
    loss = tf.reduce_sum(v**2)
    step = tf.train.get_or_create_global_step()
    made = {"clip_gradient_norm": 0.5, "gradient_multipliers": {"v": 3.0}}
    train_op = slim.learning.create_train_op(
        loss, tf.train.GradientDescentOptimizer(0.1), summarize_gradients=True, **made
    )
    summaries = [one.op.name for one in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    about = {"summaries": sorted(summaries), "name": train_op.name}
    return [about] + [{"loss": train_op}, {"v": v, "step": step}] * 2


def net(pictures, is_training):
    """Returns a net in the way of slim's, and its output."""
    norm = {"is_training": is_training, "decay": 0.5, "scale": True}
    convolved = {"normalizer_fn": slim.batch_norm, "normalizer_params": norm}
    both = [slim.conv2d, slim.fully_connected]
    with slim.arg_scope(both, weights_regularizer=slim.l2_regularizer(0.01)):
        with slim.arg_scope([slim.conv2d], padding="VALID", **convolved):
            x = slim.repeat(pictures, 2, slim.conv2d, 3, [3, 3], scope="block")
            x = slim.separable_conv2d(x, None, 2, 1, normalizer_fn=slim.batch_norm)
            x = slim.max_pool2d(x, 2, scope="pool")
        x = slim.dropout(slim.flatten(x), 0.7, is_training=False)
        x = slim.stack(x, slim.fully_connected, [4, 3])
        return slim.fully_connected(x, 2, activation_fn=None, scope="logits")


@question
def a_net_in_training_and_again():
    pictures = tf.constant(numbers(4, 9, 9, 2))
    labels = slim.one_hot_encoding([0, 1, 1, 0], 2)
    with tf.variable_scope("net"):
        logits = net(pictures, True)
    slim.losses.softmax_cross_entropy(logits, labels)
    loss = slim.losses.get_total_loss()
    train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
    with tf.variable_scope("net", reuse=True):
        again = net(pictures, False)
    moving = {one.op.name: one for one in slim.get_model_variables() if "moving" in one.op.name}
    return [{"loss": train_op}, moving, {"again": again}] * 3


@question
def signatures():
    names = ["create_train_op", "clip_gradient_norms"]
    return {name: signature(getattr(slim.learning, name)) for name in names}


@question
def modules():
    x = tf.constant(numbers(2, 3))
    with slim.arg_scope([slim.layers.fully_connected], activation_fn=None):
        dense = slim.fully_connected(x, 2)
    return {
        "dense": slim.layers.softmax(dense),
        "share": slim.regularizers.l2_regularizer(0.1)(x),
        "mode": signature(slim.initializers.variance_scaling_initializer),
    }


@question
def names_of_metrics():
    kept = slim.metrics.streaming_accuracy(tf.constant([1, 0, 1]), tf.constant([1, 1, 1]))
    values, updates = slim.metrics.aggregate_metric_map({"accuracy": kept})
    return [{"update": updates["accuracy"]}, {"value": values["accuracy"]}]


if __name__ == "__main__":
    main()
