"""Trains a deep network that computes its activations again for their gradients.

The graph editor copies each block of the network; the copy runs when the gradient of the next
block is known, so that a session need not keep the activations inside of blocks.
"""

import re

import numpy as np
import tensorflow as tf
import tensorflow.contrib.graph_editor as ge
from tensorflow.python.ops import gradients as gradients_lib

plain_gradients = gradients_lib.gradients
BLOCK_END = r"block_(\d+)/out:0$"


def list_between(xs, ys):
    """Returns the operations that compute ys from xs, without those of xs."""
    before = ge.get_backward_walk_ops([y.op for y in ys], inclusive=True)
    between = ge.get_forward_walk_ops([x.op for x in xs], inclusive=True, within_ops=before)
    return [op for op in between if op.inputs and op not in [x.op for x in xs]]


def recompute(targets, operations, ends, stops, grads):
    """Returns the tensors of copies that begin at stops and wait for gradients."""
    needed = ge.get_backward_walk_ops(
        [target.op for target in targets], inclusive=True, within_ops=operations, stop_at_ts=ends
    )
    _, info = ge.copy_with_input_replacements(ge.sgv(needed), {})
    for original, copied in info._transformed_ops.items():
        copied._set_device(original.node_def.device)
    copies = info._transformed_ops.values()
    ge.reroute_ts(stops, ends, can_modify=copies)
    for copied in ge.get_consuming_ops(stops) if grads else []:
        if copied in list(copies):
            ge.add_control_inputs(copied, [grad.op for grad in grads])
    return [info._transformed_ts[target] for target in targets]


def checkpointed_gradients(ys, xs, grad_ys=None, **kwargs):
    """Returns the gradients of `tf.gradients`."""
    ys = ys if isinstance(ys, list) else [ys]
    xs = [x.handle if hasattr(x, "handle") else x for x in xs]
    operations = list_between(xs, ys)
    ends = ge.filter_ts_from_regex(operations, BLOCK_END)
    ends.sort(key=lambda end: int(re.search(BLOCK_END, end.name).group(1)))
    stops = [tf.stop_gradient(end, name="stop") for end in ends]
    print("blocks", len(ends), [end.name for end in ends])
    totals = [None] * len(xs)
    targets, grads = ys, grad_ys
    for count in range(len(ends), -1, -1):
        made = recompute(targets, operations, ends[:count], stops[:count], grads)
        found = plain_gradients(made, xs + stops[:count][-1:], grads, **kwargs)
        for index, grad in enumerate(found[: len(xs)]):
            if grad is not None:
                totals[index] = grad if totals[index] is None else totals[index] + grad
        targets, grads = ends[:count][-1:], found[len(xs) :]
    return totals


def model_fn(features, labels, mode, params):
    gradients_lib.__dict__["gradients"] = params["gradients"]
    net = features
    for number in range(4):
        with tf.variable_scope("block_%d" % number):
            for name in ("first", "second"):
                net = tf.layers.dense(net, 8, tf.nn.tanh, name=name)
            net = tf.identity(net, name="out")
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(net, 1, name="last"))
    optimizer = tf.train.AdamOptimizer(0.02)
    pairs = optimizer.compute_gradients(loss)
    train_op = optimizer.apply_gradients(pairs, tf.train.get_global_step())
    gradients_lib.__dict__["gradients"] = plain_gradients
    copies = ge.select_ops("/Tanh_1$", graph=tf.get_default_graph())
    print("copies", len(copies))
    norms = [tf.norm(grad) for grad, _ in pairs]
    hook = tf.train.LoggingTensorHook(
        {"loss": loss, "norm": tf.add_n(norms), "least": tf.reduce_min(norms)},
        every_n_iter=5,
        formatter=lambda values: "values %s" % " ".join("%.5f" % values[key] for key in values),
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[hook])


def main():
    x = np.sin(np.arange(256.0)).reshape(64, 4).astype(np.float32)
    y = x.sum(1, keepdims=True) ** 2
    for name in ("plain_gradients", "checkpointed_gradients"):
        config = tf.estimator.RunConfig(tf_random_seed=3)
        estimator = tf.estimator.Estimator(
            model_fn, params={"gradients": globals()[name]}, config=config
        )
        input_fn = tf.estimator.inputs.numpy_input_fn(x, y, 16, num_epochs=None, shuffle=False)
        estimator.train(input_fn, steps=30)
        bias = estimator.get_variable_value("block_0/first/bias")
        print(name, " ".join("%.4f" % value for value in bias))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    main()
