"""Sampling of `tf.contrib.training`: batches of examples that are drawn with probabilities."""

from collections.abc import Callable, Sequence

import tensorflow as tf

from tf_contrib._types import TensorLike

_v1 = tf.compat.v1
# Every class begins with this number of examples, so that an estimate is never 0.
_FIRST_COUNT = 10
_TOLERANCE = 1e-4


def rejection_sample(
    tensors: Sequence[TensorLike],
    accept_prob_fn: Callable[[list[tf.Tensor]], tf.Tensor],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[tf.Tensor]:
    """Batches examples, each of which is accepted with a probability.

    Args:
      tensors: Tensors of one example, or of several with `enqueue_many`.
      accept_prob_fn: Function that returns the probability of an example's tensors.
      batch_size: Size of batches.
      queue_threads: Number of threads that draw examples.
      enqueue_many: Whether the tensors have several examples.
      prebatch_capacity: Number of examples to keep before they are drawn, with `enqueue_many`.
      prebatch_threads: Number of threads that split the examples, with `enqueue_many`.
      runtime_checks: Whether to check that probabilities are between 0 and 1.
      name: Name of the operations.

    Returns:
      A batch of each tensor.
    """
    with _v1.variable_scope(name, "rejection_sample", tensors):
        examples = [tf.convert_to_tensor(one) for one in tensors]
        if enqueue_many:
            examples = _split(examples, prebatch_threads, prebatch_capacity)
        probability = tf.convert_to_tensor(accept_prob_fn(examples))
        if runtime_checks:
            checks = [
                _v1.assert_less_equal(0.0, probability),
                _v1.assert_less_equal(probability, 1.0),
            ]
            with tf.control_dependencies(checks):
                probability = tf.identity(probability, name="prob_with_checks")
        return _draw(examples, probability, batch_size, queue_threads)


def stratified_sample(
    tensors: Sequence[TensorLike],
    labels: TensorLike,
    target_probs: TensorLike,
    batch_size: int,
    init_probs: TensorLike | None = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[tf.Tensor], tf.Tensor]:
    """Batches examples so that each class has a share of them.

    Args:
      tensors: Tensors of one example, or of several with `enqueue_many`.
      labels: Class of the example, or classes.
      target_probs: Share of each class in the batches.
      batch_size: Size of batches.
      init_probs: Share of each class in the examples; by default estimated from the labels.
      enqueue_many: Whether the tensors have several examples.
      queue_capacity: Number of examples to keep before they are drawn.
      threads_per_queue: Number of threads of each queue.
      name: Name of the operations.

    Returns:
      A batch of each tensor, and the batch of labels.
    """
    with _v1.name_scope(name, "stratified_sample", [*tensors, labels]):
        examples = [tf.convert_to_tensor(one) for one in tensors]
        classes = tf.convert_to_tensor(labels)
        target = tf.convert_to_tensor(target_probs, tf.float32)
        if not enqueue_many:
            examples = [tf.expand_dims(one, 0) for one in examples]
            classes = tf.expand_dims(classes, 0)
        count = _find_count(target)
        if init_probs is None:
            initial = _estimate_shares(classes, count)
        else:
            initial = tf.convert_to_tensor(init_probs, tf.float32)
            if initial.shape.num_elements() not in (None, count):
                raise ValueError("Probability parameters must have the same length.")
        accepted = _find_acceptance(target, initial)
        *split, label = _split([*examples, classes], threads_per_queue, queue_capacity)
        probability = tf.gather(accepted, label)
        *batch, batch_labels = _draw([*split, label], probability, batch_size, threads_per_queue)
        return batch, batch_labels


def _find_count(target: tf.Tensor) -> int:
    if target.shape.rank != 1 or target.shape[0] is None:
        raise ValueError(f"target_probs must be a vector of known size, got {target.shape}.")
    return int(target.shape[0])


def _find_acceptance(target: tf.Tensor, initial: tf.Tensor) -> tf.Tensor:
    """Returns the probability to accept an example of each class."""
    is_possible = tf.reduce_all((initial > 0) | tf.equal(target, 0))
    checks = [
        _v1.Assert(is_possible, ["A class has a target above 0 and no examples:", initial, target])
    ]
    for shares in (initial, target):
        checks.append(_v1.assert_non_negative(shares))
        is_one = tf.abs(tf.reduce_sum(shares) - 1) < _TOLERANCE
        checks.append(_v1.Assert(is_one, ["The shares of all classes must add up to 1:", shares]))
    with tf.control_dependencies(checks):
        ratio = tf.math.divide_no_nan(target, initial)
    return ratio / tf.reduce_max(ratio)


def _estimate_shares(labels: tf.Tensor, count: int) -> tf.Tensor:
    """Returns the share of each class among the labels so far."""
    counts = _v1.Variable(
        tf.fill([count], tf.constant(_FIRST_COUNT, tf.int64)),
        trainable=False,
        name="class_count",
        use_resource=False,
    )
    new = tf.reduce_sum(tf.one_hot(labels, count, dtype=tf.int64), 0)
    total = _v1.assign_add(counts, new)
    return tf.cast(total / tf.reduce_sum(total), tf.float32)


def _split(examples: list[tf.Tensor], threads: int, capacity: int) -> list[tf.Tensor]:
    """Returns single examples of tensors that have several."""
    batch = _v1.train.batch(examples, 1, num_threads=threads, capacity=capacity, enqueue_many=True)
    batch = batch if isinstance(batch, list) else [batch]
    return [tf.squeeze(one, [0]) for one in batch]


def _draw(
    examples: list[tf.Tensor], probability: tf.Tensor, batch_size: int, threads: int
) -> list[tf.Tensor]:
    accept = tf.less(_v1.random_uniform([]), probability)
    batch = _v1.train.maybe_batch(examples, accept, batch_size, num_threads=threads)
    return batch if isinstance(batch, list) else [batch]


def resample_at_rate(
    inputs: Sequence[TensorLike],
    rates: TensorLike,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[tf.Tensor]:
    """Repeats each row of tensors a random number of times.

    Args:
      inputs: Tensors of the same number of rows.
      rates: Mean number of times for each row: parameters of Poisson distributions.
      scope: Name of the operations.
      seed: Seed of the numbers.
      back_prop: Whether gradients pass through the numbers of rows; they have none.

    Returns:
      The rows of each tensor.
    """
    del back_prop
    with _v1.name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rates = tf.convert_to_tensor(rates, name="rates")
        times = tf.cast(_v1.random_poisson(rates, (), rates.dtype, seed), tf.int32)
        rows = tf.stop_gradient(tf.repeat(tf.range(tf.shape(times)[0]), times))
        return [tf.gather(one, rows) for one in inputs]


def weighted_resample(
    inputs: Sequence[TensorLike],
    weights: TensorLike,
    overall_rate: float | tf.Tensor,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[tf.Tensor], tf.Tensor]:
    """Repeats each row of tensors a random number of times, in proportion to its weight.

    Args:
      inputs: Tensors of the same number of rows.
      weights: Weight of each row.
      overall_rate: Mean number of times for a row of mean weight.
      scope: Name of the operations.
      mean_decay: Decay of the moving mean of all weights.
      seed: Seed of the numbers.

    Returns:
      The rows of each tensor, and for each of them the mean number of times.
    """
    with _v1.name_scope(scope, "weighted_resample", [*inputs, weights]):
        weights = tf.convert_to_tensor(weights)
        rates = weights * overall_rate / _estimate_mean(weights, mean_decay, scope)
        *rows, of_rows = resample_at_rate([*inputs, rates], rates, "resample", seed)
        return rows, of_rows


def _estimate_mean(weights: tf.Tensor, decay: float, scope: str | None) -> tf.Tensor:
    """Returns the moving mean of the mean of weights, without the bias of its start at zero."""
    with _v1.variable_scope(scope, "estimate_mean", use_resource=False):
        mean = _v1.get_local_variable(
            "estimated_mean", [], weights.dtype, initializer=tf.zeros_initializer
        )
        # The old function named these variables after the scope and the first variable.
        sums, steps = (
            _v1.get_variable(
                f"{mean.op.name}/{name}",
                [],
                weights.dtype,
                initializer=tf.zeros_initializer,
                trainable=False,
            )
            for name in ("biased", "local_step")
        )
    new_sum = _v1.assign_sub(sums, (sums - tf.reduce_mean(weights)) * (1 - decay))
    return _v1.assign(mean, new_sum / (1 - decay ** _v1.assign_add(steps, 1.0)))
