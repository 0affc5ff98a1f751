"""Questions about tf.contrib.metrics and tf.contrib.losses.metric_learning."""

import numpy as np
import tensorflow as tf
from asking import differs, main, numbers, question, signature

metrics = tf.contrib.metrics
learning = tf.contrib.losses.metric_learning


def batches(*arrays):
    """Returns the halves of arrays, one after the other, and again."""
    turn = tf.get_variable("turn", initializer=0, trainable=False, collections=["local_variables"])
    with tf.control_dependencies([turn.assign_add(1)]):
        half = tf.identity(turn.read_value()) % 2
    return [tf.constant(a.reshape((2, len(a) // 2) + a.shape[1:]))[1 - half] for a in arrays]


def followed(pair):
    """Value and update of a metric over three batches; its state at the end."""
    value, update = pair
    state = {variable.op.name: variable for variable in tf.local_variables()}
    return [{"update": update}, {"value": value}] * 3 + [state]


def probabilities(size=8):
    return numbers(size) + 0.5


LABELS = np.array([1, 0, 1, 1, 0, 0, 1, 0])
WEIGHTS = np.array([1, 2, 0, 1, 3, 1, 0.5, 1], np.float32)
GUESSES = np.array([1, 1, 0, 1, 0, 1, 1, 0])


def of_guesses(metric, *more, **options):
    guesses, labels, weights = batches(GUESSES, LABELS, WEIGHTS)
    return followed(metric(guesses, labels, *more, weights=weights, **options))


def of_probabilities(metric, *more, **options):
    guesses, labels, weights = batches(probabilities(), LABELS, WEIGHTS)
    return followed(metric(guesses, labels, *more, weights=weights, **options))


def of_labels_first(metric, *more, **options):
    guesses, labels, weights = batches(probabilities(), LABELS, WEIGHTS)
    return followed(metric(labels, guesses, *more, weights=weights, **options))


@question
def arguments():
    names = [
        "accuracy",
        "aggregate_metric_map",
        "aggregate_metrics",
        "confusion_matrix",
        "count",
        "f1_score",
        "sparse_recall_at_top_k",
        "streaming_accuracy",
        "streaming_covariance",
        "streaming_false_negatives",
        "streaming_false_positives",
        "streaming_mean",
        "streaming_mean_absolute_error",
        "streaming_mean_cosine_distance",
        "streaming_mean_iou",
        "streaming_mean_relative_error",
        "streaming_mean_squared_error",
        "streaming_mean_tensor",
        "streaming_pearson_correlation",
        "streaming_percentage_less",
        "streaming_precision",
        "streaming_precision_at_thresholds",
        "streaming_recall",
        "streaming_recall_at_k",
        "streaming_recall_at_thresholds",
        "streaming_root_mean_squared_error",
        "streaming_sensitivity_at_specificity",
        "streaming_sparse_average_precision_at_k",
        "streaming_sparse_precision_at_k",
        "streaming_sparse_precision_at_top_k",
        "streaming_sparse_recall_at_k",
        "streaming_specificity_at_sensitivity",
        "streaming_true_negatives",
        "streaming_true_positives",
    ]
    return {name: signature(getattr(metrics, name)) for name in names}


@question
def accuracy():
    return of_guesses(metrics.streaming_accuracy)


@question
def accuracy_without_weights():
    return followed(metrics.streaming_accuracy(*batches(GUESSES, LABELS)))


@question
def accuracy_of_a_batch():
    args = tf.constant(GUESSES), tf.constant(LABELS)
    return {
        "plain": metrics.accuracy(*args),
        "weighted": metrics.accuracy(*args, weights=tf.constant(WEIGHTS)),
    }


@question
def accuracy_of_strings():
    return {"value": metrics.accuracy(tf.constant(["a", "b"]), tf.constant(["a", "c"]))}


@question
def accuracy_of_two_types():
    return {"value": metrics.accuracy(tf.constant([1.0, 2.0]), tf.constant([1, 2]))}


@question
def accuracy_of_two_shapes():
    return {"value": metrics.accuracy(tf.constant([1, 2]), tf.constant([[1], [2]]))}


@question
def accuracy_of_floats():
    return {"value": metrics.accuracy(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0]))}


@question
def auc():
    return of_probabilities(metrics.streaming_auc, num_thresholds=20)[:-1]


@question
def auc_of_precision_and_recall():
    return of_probabilities(metrics.streaming_auc, num_thresholds=20, curve="PR")[:-1]


@question
def precision():
    return of_guesses(metrics.streaming_precision)


@question
def recall():
    return of_guesses(metrics.streaming_recall)


@question
def precision_at_thresholds():
    return of_probabilities(metrics.streaming_precision_at_thresholds, [0.3, 0.7])


@question
def recall_at_thresholds():
    return of_probabilities(metrics.streaming_recall_at_thresholds, [0.3, 0.7])


@question
def counts():
    names = ["true_positives", "true_negatives", "false_positives", "false_negatives"]
    guesses, labels, weights = batches(GUESSES, LABELS, WEIGHTS)
    pairs = [getattr(metrics, "streaming_" + name)(guesses, labels, weights) for name in names]
    values, updates = metrics.aggregate_metrics(*pairs)
    return [{"updates": updates}, {"values": values}] * 2


@question
def sensitivity_at_specificity():
    return of_probabilities(metrics.streaming_sensitivity_at_specificity, 0.6)[:-1]


@question
def specificity_at_sensitivity():
    return of_probabilities(metrics.streaming_specificity_at_sensitivity, 0.6)[:-1]


@question
def mean():
    return followed(metrics.streaming_mean(*batches(probabilities(), WEIGHTS)))


@question
def mean_tensor():
    return followed(metrics.streaming_mean_tensor(*batches(probabilities(), WEIGHTS)))


@question
def percentage_less():
    values, weights = batches(probabilities(), WEIGHTS)
    return followed(metrics.streaming_percentage_less(values, 0.4, weights))


@question
def count():
    values, weights = batches(probabilities(), WEIGHTS)
    return followed(metrics.count(values, weights))


@question
def count_without_weights():
    return followed(metrics.count(*batches(probabilities())))[:-1]


@question
def errors():
    guesses, labels, weights = batches(probabilities(), LABELS.astype(np.float32), WEIGHTS)
    names = ["mean_absolute_error", "mean_squared_error", "root_mean_squared_error"]
    pairs = {
        name: getattr(metrics, "streaming_" + name)(guesses, labels, weights) for name in names
    }
    values, updates = metrics.aggregate_metric_map(pairs)
    return [updates, values] * 2


@question
def relative_error():
    guesses, labels, weights = batches(probabilities(), LABELS.astype(np.float32), WEIGHTS)
    return followed(metrics.streaming_mean_relative_error(guesses, labels, labels + 1, weights))


@question
def cosine_distance():
    guesses, labels, weights = batches(numbers(6, 3), numbers(6, 3, start=4), WEIGHTS[:6, None])
    return followed(metrics.streaming_mean_cosine_distance(guesses, labels, 1, weights))


@question
def iou():
    return of_guesses(metrics.streaming_mean_iou, 2)


@question
def covariance():
    guesses, labels, weights = batches(probabilities(), LABELS.astype(np.float32), WEIGHTS)
    return followed(metrics.streaming_covariance(guesses, labels, weights))


@question
def covariance_without_weights():
    guesses, labels = batches(probabilities(), LABELS.astype(np.float32))
    return followed(metrics.streaming_covariance(guesses, labels))


@question
def pearson():
    guesses, labels, weights = batches(probabilities(), LABELS.astype(np.float32), WEIGHTS)
    return followed(metrics.streaming_pearson_correlation(guesses, labels, weights))


@question
def pearson_without_weights():
    guesses, labels = batches(probabilities(), LABELS.astype(np.float32))
    return followed(metrics.streaming_pearson_correlation(guesses, labels))


@question
def pearson_of_constants():
    guesses, labels = batches(np.ones(4, np.float32), np.ones(4, np.float32))
    return followed(metrics.streaming_pearson_correlation(guesses, labels))


@question
def pearson_far_from_zero():
    guesses, labels = batches(numbers(8) + 1000, numbers(8, start=1) + 1000)
    return followed(metrics.streaming_pearson_correlation(guesses, labels))[:-1]


@differs("the original finds no number any more after a batch without weight")
@question
def covariance_of_no_weight():
    guesses, labels, weights = batches(
        probabilities(), probabilities(), WEIGHTS * (np.arange(8) > 3)
    )
    return followed(metrics.streaming_covariance(guesses, labels, weights))


@question
def covariance_of_one_example():
    guesses, labels = batches(numbers(2), numbers(2, start=5))
    return followed(metrics.streaming_covariance(guesses, labels))


@question
def covariance_of_broadcast_weights():
    guesses, labels, weights = batches(numbers(4, 3), numbers(4, 3, start=1), numbers(4, 1) + 1)
    return followed(metrics.streaming_covariance(guesses, labels, weights))


@question
def f1():
    return of_labels_first(metrics.f1_score, num_thresholds=10)


@question
def f1_by_default():
    guesses, labels = batches(probabilities(), LABELS)
    return followed(metrics.f1_score(labels, guesses))[:-1]


@question
def recall_at_k():
    guesses, labels, weights = batches(numbers(6, 4), np.arange(6) % 4, WEIGHTS[:6])
    return followed(metrics.streaming_recall_at_k(guesses, labels, 2, weights))


@question
def sparse_precision_at_k():
    guesses, labels = batches(numbers(6, 4), np.arange(12).reshape(6, 2) % 4)
    return followed(metrics.streaming_sparse_precision_at_k(guesses, labels, 2))


@question
def sparse_recall_at_k_of_a_class():
    guesses, labels = batches(numbers(6, 4), np.arange(12).reshape(6, 2) % 4)
    return followed(metrics.streaming_sparse_recall_at_k(guesses, labels, 2, 1))


@question
def sparse_average_precision_at_k():
    guesses, labels = batches(numbers(6, 4), np.arange(12).reshape(6, 2) % 4)
    return followed(metrics.streaming_sparse_average_precision_at_k(guesses, labels, 2))


@question
def sparse_precision_at_top_k():
    tops, labels = batches(
        np.array([[0, 1], [2, 3], [1, 3], [0, 2]]), np.arange(8).reshape(4, 2) % 4
    )
    return followed(metrics.streaming_sparse_precision_at_top_k(tops, labels))


@question
def sparse_recall_at_top_k():
    tops, labels = batches(
        np.array([[0, 1], [2, 3], [1, 3], [0, 2]]), np.arange(8).reshape(4, 2) % 4
    )
    return followed(metrics.sparse_recall_at_top_k(labels, tops))


@question
def confusion():
    guesses, labels = tf.constant(GUESSES), tf.constant(LABELS)
    return {
        "plain": metrics.confusion_matrix(labels, guesses),
        "weighted": metrics.confusion_matrix(labels, guesses, 3, tf.float32, None, WEIGHTS),
    }


@question
def aggregated_none():
    return {"all": metrics.aggregate_metrics()}


@question
def collections():
    guesses, labels = batches(GUESSES, LABELS)
    metrics.streaming_accuracy(guesses, labels, None, ["values"], ["updates"], "name")
    metrics.f1_score(labels, guesses, None, 5, ["values"], "updates", "f")
    metrics.streaming_pearson_correlation(
        tf.cast(guesses, tf.float32), tf.cast(labels, tf.float32), None, "values", ["updates"]
    )
    return {key: len(tf.get_collection(key)) for key in ("values", "updates")}


CLASSES = np.array([0, 1, 0, 2, 1, 0])


def embeddings(start=0):
    return tf.constant(numbers(6, 3, start=start))


@question
def learning_arguments():
    names = ["contrastive_loss", "lifted_struct_loss", "npairs_loss", "triplet_semihard_loss"]
    return {name: signature(getattr(learning, name)) for name in names}


def with_gradient(loss, *tensors):
    gradients = tf.gradients(loss, list(tensors))
    return dict({"loss": loss}, **{str(i): g for i, g in enumerate(gradients)})


@question
def contrastive():
    labels = tf.constant([1, 0, 0, 1, 1, 0])
    one, other = embeddings(), embeddings(5)
    return [
        with_gradient(learning.contrastive_loss(labels, one, other), one, other),
        with_gradient(learning.contrastive_loss(labels, one, other, 0.3), one, other),
    ]


@question
def lifted():
    x = embeddings()
    return [
        with_gradient(learning.lifted_struct_loss(tf.constant(CLASSES), x), x),
        with_gradient(learning.lifted_struct_loss(tf.constant(CLASSES), x, 0.3), x),
    ]


@differs("the original finds no number where there are no negatives")
@question
def lifted_of_one_class():
    return {"loss": learning.lifted_struct_loss(tf.zeros([6], tf.int32), embeddings())}


@question
def npairs():
    one, other = embeddings(), embeddings(5)
    return [
        with_gradient(learning.npairs_loss(tf.constant(CLASSES), one, other), one, other),
        with_gradient(learning.npairs_loss(tf.constant(CLASSES), one, other, 0.1), one, other),
    ]


@question
def triplets():
    x = embeddings()
    return [
        with_gradient(learning.triplet_semihard_loss(tf.constant(CLASSES), x), x),
        with_gradient(learning.triplet_semihard_loss(tf.constant(CLASSES), x, 0.1), x),
    ]


@question
def triplets_of_one_class():
    return {"loss": learning.triplet_semihard_loss(tf.zeros([6], tf.int32), embeddings())}


@differs("the original divides by the number of pairs, that is zero")
@question
def triplets_of_different_classes():
    return {"loss": learning.triplet_semihard_loss(tf.range(6), embeddings())}


@question
def losses_are_collected():
    learning.triplet_semihard_loss(tf.constant(CLASSES), embeddings())
    learning.npairs_loss(tf.constant(CLASSES), embeddings(), embeddings(5))
    learning.contrastive_loss(tf.constant([1, 0, 0, 1, 1, 0]), embeddings(), embeddings(5))
    return {"count": len(tf.losses.get_losses())}


if __name__ == "__main__":
    main()
