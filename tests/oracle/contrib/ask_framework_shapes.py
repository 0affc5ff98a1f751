"""Questions about tf.contrib.framework: shapes, graphs, initializers."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

framework = tf.contrib.framework


def tried(function, *arguments, **named):
    """Returns the result of a call, or its error."""
    try:
        return function(*arguments, **named)
    except (TypeError, ValueError) as error:
        return type(error).__name__ + ": " + str(error).split("\n")[0]


@question
def arguments():
    names = (
        "with_shape with_same_shape get_placeholders get_graph_from_inputs py_func "
        "assert_scalar_int assert_or_get_global_step reduce_sum_n remove_squeezable_dimensions "
        "deprecated_arg_values"
    )
    found = {name: signature(getattr(framework, name)) for name in names.split()}
    for dimensions in "123":
        name = "convolutional_orthogonal_" + dimensions + "d"
        found[name] = signature(getattr(framework, name).__init__)
    return found


@question
def shapes():
    known = tf.constant(numbers(2, 3))
    unknown = tf.placeholder_with_default(numbers(2, 3), [None, None])
    return {
        "known": framework.with_shape([2, 3], known) is known,
        "wrong": tried(framework.with_shape, [3, 2], known),
        "unknown": framework.with_shape([2, 3], unknown),
        "set": str(framework.with_shape([2, 3], unknown).shape),
        "tensor": framework.with_shape(tf.constant([2, 3]), unknown),
        "same": framework.with_same_shape(known, unknown),
        "other": tried(framework.with_same_shape, tf.constant(numbers(3)), known),
    }


@question
def shape_that_is_wrong_when_run():
    unknown = tf.placeholder_with_default(numbers(2, 3), [None, None])
    try:
        with tf.Session() as session:
            session.run(framework.with_shape([3, 2], unknown))
    except tf.errors.InvalidArgumentError as error:
        return {"error": type(error).__name__}


@question
def graphs():
    one = tf.placeholder(tf.float32, [2], "one")
    tf.constant(1.0)
    two = tf.placeholder(tf.int32, name="two")
    graph = tf.get_default_graph()
    return {
        "placeholders": [p.name for p in framework.get_placeholders(graph)],
        "graph": framework.get_graph_from_inputs([one, two]) is graph,
        "other": framework.get_graph_from_inputs([tf.constant(1)], graph) is graph,
        "wrong": tried(framework.get_graph_from_inputs, [one], tf.Graph()).split(":")[0],
    }


@question
def functions_of_python():
    def function(x, y=0.0, z=1):
        return x * 2 + y, np.int64(z)

    x = tf.constant(numbers(2, 3))
    found = framework.py_func(
        function,
        [x],
        {"y": tf.constant(1.0)},
        output_types=(tf.float32, tf.int64),
        output_shapes=(tf.TensorShape([2, 3]), tf.TensorShape([])),
    )
    named = framework.py_func(
        lambda a: {"b": a["c"] + 1}, [{"c": x}], output_types={"b": tf.float32}
    )
    return {"found": found[0], "z": found[1], "shape": str(found[0].shape), "named": named["b"]}


@question
def scalars():
    return {
        "same": framework.assert_scalar_int(tf.constant(3)),
        "float": tried(framework.assert_scalar_int, tf.constant(3.0)),
        "vector": tried(framework.assert_scalar_int, tf.constant([3])),
    }


@question
def global_steps():
    missing = tried(framework.assert_or_get_global_step)
    step = tf.train.get_or_create_global_step()
    wrong = tried(framework.assert_or_get_global_step, global_step_tensor=tf.constant(1.0))
    return {
        "missing": str(missing),
        "found": framework.assert_or_get_global_step() is step,
        "given": framework.assert_or_get_global_step(global_step_tensor=step) is step,
        "wrong": str(wrong).split(":")[0],
    }


@question
def sums():
    tensors = [tf.constant(numbers(2, 3)), tf.constant(numbers(4)), tf.constant(1.5)]
    return {
        "all": framework.reduce_sum_n(tensors),
        "one": framework.reduce_sum_n(tensors[:1]),
        "none": tried(framework.reduce_sum_n, []),
    }


@question
def squeezed():
    def shapes_of(*shapes):
        pair = framework.remove_squeezable_dimensions(*(tf.zeros(shape) for shape in shapes))
        return [str(one.shape) for one in pair]

    return {
        "predictions": shapes_of([3, 1], [3]),
        "labels": shapes_of([3], [3, 1]),
        "none": tried(shapes_of, [3, 2], [3])[:10],
        "equal": shapes_of([3, 1], [3, 1]),
    }


def products(kernel):
    """The norm of the result of a convolution of inputs, as a share of theirs."""
    rank = len(kernel.shape) - 2
    x = numbers(*([1] + [8] * rank + [kernel.shape.as_list()[-2]]))
    padded = np.tile(x, [1] + [3] * rank + [1])
    edge = [slice(None)] + [slice(7, 17 + kernel.shape.as_list()[0] - 3)] * rank + [slice(None)]
    found = tf.nn.convolution(padded[tuple(edge)].astype(np.float32), kernel, "VALID")
    return tf.norm(found) / tf.norm(x)


@question
def orthogonal_kernels():
    found = {}
    for rank in (1, 2, 3):
        kind = getattr(framework, "convolutional_orthogonal_" + str(rank) + "d")
        kernel = kind(gain=2.0, seed=1)([3] * rank + [3, 4])
        found[str(rank)] = [str(kernel.shape), kernel.dtype.name]
        found["norm " + str(rank)] = tf.round(products(kernel) * 1e3) / 1e3
        found["narrow " + str(rank)] = tried(kind(), [3] * rank + [4, 3])
        found["config " + str(rank)] = str(sorted(kind(seed=1).get_config().items()))
    return found


@question
def deprecations():
    @framework.deprecated_arg_values("2030-01-01", "Use b.", a=None)
    def function(a, b=1):
        """Adds."""
        return b if a is None else a + b

    return {"none": function(None), "some": function(2, b=3), "name": function.__name__}


if __name__ == "__main__":
    main()
