"""Questions about metrics of tf.contrib.metrics that compare predictions with thresholds."""

import numpy as np
import tensorflow as tf
from asking import main, question, signature
from trying import tried

metrics = tf.contrib.metrics
LABELS = np.array([[0, 1, 1, 0, 1], [1, 0, 0, 1, 1]])
FOUND = np.array([[0.1, 0.8, 0.45, 0.4, 0.62], [0.3, 0.2, 0.7, 0.9, 0.55]], np.float32)
WEIGHTS = np.array([[1, 2, 1, 0.5, 1], [1, 1, 3, 1, 0]], np.float32)


def updated(create, is_weighted=False):
    """Returns the value before and after the updates of two batches."""
    batch = tf.get_variable("batch", initializer=0, trainable=False)
    labels, found, weights = (tf.gather(one, batch) for one in (LABELS, FOUND, WEIGHTS))
    value, update = create(labels, found, weights if is_weighted else None)
    advance = batch.assign_add(1)
    return [
        {"value": value},
        {"update": update},
        {"advance": advance},
        {"update": update},
        {"value": value},
    ]


@question
def signatures():
    names = "precision_at_recall recall_at_precision streaming_false_negative_rate_at_thresholds "
    names += "streaming_false_positive_rate_at_thresholds"
    return {name: signature(getattr(metrics, name)) for name in names.split()}


@question
def precision_at_recall():
    return updated(lambda *batch: metrics.precision_at_recall(*batch[:2], target_recall=0.6))


@question
def precision_at_recall_with_weights():
    return updated(
        lambda *batch: metrics.precision_at_recall(
            *batch[:2], target_recall=0.6, weights=batch[2], num_thresholds=11
        ),
        is_weighted=True,
    )


@question
def recall_at_precision():
    return updated(lambda *batch: metrics.recall_at_precision(*batch[:2], precision=0.6))


@question
def recall_at_high_precision():
    return updated(lambda *batch: metrics.recall_at_precision(*batch[:2], precision=0.999))


@question
def recall_at_precision_with_weights():
    return updated(
        lambda *batch: metrics.recall_at_precision(
            *batch[:2], precision=0.6, weights=batch[2], num_thresholds=11, name="mine"
        ),
        is_weighted=True,
    )


def strict(is_strict):
    """Predicts so that no threshold has a precision of 0.9."""
    return metrics.recall_at_precision(
        tf.constant([1, 0]), tf.constant([0.4, 0.6]), 0.9, strict_mode=is_strict
    )


@question
def recall_at_a_precision_that_none_has():
    return {"plain": strict(False)[1], "strict": strict(True)[1]}


@question
def false_positive_rates():
    of = metrics.streaming_false_positive_rate_at_thresholds
    return updated(lambda labels, found, _: of(found, labels, [0.3, 0.5]))


@question
def false_negative_rates():
    of = metrics.streaming_false_negative_rate_at_thresholds
    return updated(
        lambda labels, found, weights: of(found, labels, [0.3, 0.5], weights), is_weighted=True
    )


@question
def wrong_targets():
    labels, found = tf.constant([1, 0]), tf.constant([0.4, 0.6])
    return {
        "recall": tried(metrics.precision_at_recall, labels, found, 1.5),
        "precision": tried(metrics.recall_at_precision, labels, found, -0.5),
    }


if __name__ == "__main__":
    main()
