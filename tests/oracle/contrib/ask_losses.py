"""Questions about tf.contrib.losses and tf.contrib.deprecated."""

import tensorflow as tf
from asking import main, numbers, question, signature

losses = tf.contrib.losses
deprecated = tf.contrib.deprecated
CLASSES = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
PER_ROW = [1.0, 0.0, 2.0, 0.5]
PER_VALUE = [[1.0, 0.0, 2.0], [1.0, 1.0, 0.0], [0.0, 0.5, 1.0], [0.0, 0.0, 3.0]]


def predicted():
    """Predictions and labels."""
    return tf.constant(numbers(4, 3)), tf.constant(numbers(4, 3, start=9))


def noted(*found):
    """Losses, and those in the collection."""
    kept = losses.get_losses()
    return {
        "losses": list(found),
        "kept": kept,
        "shapes": [str(one.shape) for one in found],
    }


@question
def signatures():
    names = "absolute_difference add_loss compute_weighted_loss cosine_distance get_losses "
    names += "get_regularization_losses get_total_loss hinge_loss log_loss "
    names += "mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy "
    names += "softmax_cross_entropy sparse_softmax_cross_entropy"
    return {name: signature(getattr(losses, name)) for name in names.split()}


@question
def absolute():
    x, labels = predicted()
    return noted(
        losses.absolute_difference(x, labels),
        losses.absolute_difference(x, labels, 0.5),
        losses.absolute_difference(x, labels, tf.constant(PER_ROW)),
        losses.absolute_difference(x, labels, tf.constant(PER_VALUE)),
    )


@question
def squared():
    x, labels = predicted()
    return noted(
        losses.mean_squared_error(x, labels),
        losses.mean_squared_error(x, labels, 0.0),
        losses.mean_squared_error(x, labels, tf.constant(PER_ROW), scope="s"),
        losses.mean_squared_error(x, labels, tf.reshape(PER_ROW, [4, 1])),
        losses.mean_squared_error(x, labels, tf.constant(PER_VALUE)),
    )


@question
def logs():
    x, labels = map(tf.sigmoid, predicted())
    return noted(
        losses.log_loss(x, labels),
        losses.log_loss(x, labels, tf.constant(PER_ROW), epsilon=0.1),
    )


@question
def hinges():
    return noted(losses.hinge_loss(predicted()[0], tf.constant(CLASSES)))


@question
def sigmoids():
    x, labels = predicted()[0], tf.constant(CLASSES)
    return noted(
        losses.sigmoid_cross_entropy(x, labels),
        losses.sigmoid_cross_entropy(x, labels, tf.constant(PER_ROW), label_smoothing=0.1),
    )


@question
def softmaxes():
    x, labels = predicted()[0], tf.constant(CLASSES)
    return noted(
        losses.softmax_cross_entropy(x, labels),
        losses.softmax_cross_entropy(x, labels, tf.constant(PER_ROW), label_smoothing=0.1),
        losses.softmax_cross_entropy(x, labels, 2.0),
    )


@question
def sparse_softmaxes():
    x, _ = predicted()
    return noted(
        losses.sparse_softmax_cross_entropy(x, tf.constant([1, 0, 2, 1])),
        losses.sparse_softmax_cross_entropy(x, tf.constant([[1], [0], [2], [1]]), 0.5),
        losses.sparse_softmax_cross_entropy(x, tf.constant([1, 0, 2, 1]), tf.constant(PER_ROW)),
    )


@question
def pairs():
    x, labels = predicted()
    return noted(
        losses.mean_pairwise_squared_error(x, labels),
        losses.mean_pairwise_squared_error(x, labels, tf.constant(PER_ROW)),
    )


@question
def cosines():
    x, labels = [tf.nn.l2_normalize(one, 1) for one in predicted()]
    return noted(
        losses.cosine_distance(x, labels, 1),
        losses.cosine_distance(x, labels, dim=1, weights=tf.reshape(PER_ROW, [4, 1])),
    )


@question
def weighted():
    x, _ = predicted()
    return noted(
        losses.compute_weighted_loss(x),
        losses.compute_weighted_loss(x, tf.constant(PER_ROW)),
        losses.compute_weighted_loss(x, tf.constant(PER_VALUE)),
        losses.compute_weighted_loss(x, 0.0),
    )


@question
def weights_of_a_wrong_shape():
    return noted(losses.mean_squared_error(*predicted(), tf.constant([1.0, 2.0, 3.0])))


@question
def labels_of_another_shape():
    return noted(losses.mean_squared_error(predicted()[0], tf.constant(PER_ROW)))


@question
def totals():
    with tf.variable_scope("s", regularizer=tf.contrib.layers.l2_regularizer(0.1)):
        tf.get_variable("v", [3])
    losses.mean_squared_error(*predicted(), scope="one")
    losses.add_loss(tf.constant(2.0))
    total, alone = losses.get_total_loss(), losses.get_total_loss(False, "alone")
    return {
        "totals": [total, alone],
        "names": [total.name, alone.name],
        "of_a_scope": losses.get_losses("one"),
        "shares": [tf.identity(one) for one in losses.get_regularization_losses()],
    }


def summarized(one):
    return {"summary": one, "name": one.op.name, "kept": len(tf.get_collection("summaries"))}


@question
def summary_signatures():
    names = "audio_summary histogram_summary image_summary merge_all_summaries merge_summary "
    names += "scalar_summary"
    return {name: signature(getattr(deprecated, name)) for name in names.split()}


@question
def summary_of_a_number():
    one = deprecated.scalar_summary("a tag", tf.constant(2.0))
    two = deprecated.scalar_summary(["b", "c"], tf.constant([2.0, 3.0]), name="mine")
    return [summarized(one), summarized(two)]


@question
def summary_of_a_spread():
    return summarized(deprecated.histogram_summary("a tag", tf.constant(numbers(4)), name="mine"))


@question
def summary_of_pictures():
    return summarized(deprecated.image_summary("a tag", tf.ones([4, 1, 1, 1])))


@question
def summaries_as_one():
    with tf.name_scope("n"):
        one = deprecated.scalar_summary("a", tf.constant(2.0))
    two = deprecated.scalar_summary("b", tf.constant(3.0), collections=["mine"])
    every, mine = deprecated.merge_all_summaries(), deprecated.merge_all_summaries("mine")
    return [summarized(deprecated.merge_summary([one, two])), summarized(every), summarized(mine)]


@question
def summaries_of_nothing():
    return {"nothing": str(deprecated.merge_all_summaries())}


if __name__ == "__main__":
    main()
