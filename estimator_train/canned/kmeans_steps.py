"""Steps of k-means: first centers, distances, and updates of centers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.engine.types import Hook, HookPhase, PhasedHook, RunContext, RunValues

_v1 = tf.compat.v1
_EPSILON = 1e-6


class Distances(NamedTuple):
    """Distances of the points of a batch from the centers.

    Attributes:
      all: float32 of shape [batch, count].
      nearest: The distance to the nearest center, float32 of shape [batch].
      index: The number of that center, int64 of shape [batch].
    """

    all: tf.Tensor
    nearest: tf.Tensor
    index: tf.Tensor


class Clusters:
    """Centers of clusters in the default graph.

    Args:
      count: Number of clusters.
      points: float32 of shape [batch, size].
      cosine: Whether distances are between directions.
      mini_batch: Whether batches move the centers towards their points.
      steps_per_iteration: Steps for which points are assigned to the same centers.
    """

    def __init__(
        self,
        count: int,
        points: tf.Tensor,
        *,
        cosine: bool,
        mini_batch: bool,
        steps_per_iteration: int,
    ) -> None:
        self.count = count
        self.points = tf.math.l2_normalize(points, axis=1) if cosine else points
        self._cosine = cosine
        shape = [count, points.shape[-1]]
        self.centers = _create_variable("clusters", shape, tf.float32)
        self.initialized = _create_variable("initialized", [], tf.bool)
        self._steps_per_iteration = steps_per_iteration
        self._has_long_iterations = mini_batch and steps_per_iteration > 1
        if mini_batch:
            # tf.estimator 2.15 leaves this variable its default name.
            self._counts = _create_variable("Variable", [count], tf.int64)
            if self._has_long_iterations:
                self._moving = _create_variable("clusters_updated", shape, tf.float32)
                self._steps_left = _create_variable("update_in_steps", [], tf.int64)
        self._mini_batch = mini_batch

    def compute_distances(self, *, training: bool = False) -> Distances:
        """Computes the distances of the points from the centers.

        Args:
          training: Whether this is for a step of training, which may begin with moved centers.
        """
        centers = self._read_centers() if training else tf.convert_to_tensor(self.centers)
        centers = self._as_directions(centers)
        products = tf.matmul(self.points, centers, transpose_b=True)
        lengths = tf.reduce_sum(tf.square(self.points), axis=1, keepdims=True)
        squares = lengths - 2.0 * products + tf.reduce_sum(tf.square(centers), axis=1)
        nearest, index = tf.reduce_min(squares, axis=1), tf.argmin(squares, axis=1)
        if self._cosine:
            # As in tf.estimator 2.15, the two differ for points at zero, which have no direction.
            return Distances(1.0 - products, 0.5 * nearest, index)
        return Distances(squares, nearest, index)

    def build_train_op(self, index: tf.Tensor) -> Any:
        """Builds the operation that moves centers by a batch, and counts the step.

        Args:
          index: The cluster of each point.
        """
        with tf.control_dependencies([self.move(index)]):
            return _v1.assign_add(_v1.train.get_or_create_global_step(), 1)

    def move(self, index: tf.Tensor) -> tf.Operation:
        """Builds the operation that moves centers by a batch; see `build_train_op`."""
        sums = tf.math.unsorted_segment_sum(self.points, index, self.count)
        sizes = tf.math.unsorted_segment_sum(tf.ones_like(index), index, self.count)
        numbers = tf.cast(sizes, tf.float32)[:, None]
        if not self._mini_batch:
            means = self._as_directions(sums / (numbers + _EPSILON))
            return self.centers.assign(tf.where(numbers > 0, means, self.centers)).op
        moving = self._moving if self._has_long_iterations else self.centers
        total = self._read_counts() + sizes
        # tf.estimator 2.15 counts the points of a batch twice here: its centers move more slowly.
        rate = 1.0 / tf.maximum(tf.cast(total + sizes, tf.float32)[:, None], 1.0)
        moved = moving + rate * (sums - numbers * moving)
        if not self._has_long_iterations:
            return tf.group(self.centers.assign(moved), self._counts.assign(total))
        current, left = self._read_centers(), self._count_down()
        # Reads come first; a run without points, in which the input ends, assigns none of the four.
        with tf.control_dependencies([moved, current, total, left]):
            return tf.group(
                self._moving.assign(moved),
                self.centers.assign(current),
                self._counts.assign(total),
                self._steps_left.assign(left),
            )

    def build_last_run(self) -> tf.Operation:
        """Builds what tf.estimator 2.15 does in the run in which the input ends.

        It counts a step, which may end an iteration of several mini-batches.
        """
        count = _count_step()
        if not self._has_long_iterations:
            return count
        values = self._read_centers(), self._read_counts(), self._count_down()
        with tf.control_dependencies(values):
            return tf.group(
                count,
                self.centers.assign(values[0]),
                self._counts.assign(values[1]),
                self._steps_left.assign(values[2]),
            )

    def _is_over(self) -> tf.Tensor:
        """Returns whether the moved centers now replace the others: at the start of a step."""
        return self._steps_left <= 0

    def _read_centers(self) -> tf.Tensor:
        """Returns the centers to which a step of training assigns its points."""
        if not self._has_long_iterations:
            return tf.convert_to_tensor(self.centers)
        return tf.where(self._is_over(), self._as_directions(self._moving), self.centers)

    def _read_counts(self) -> tf.Tensor:
        """Returns the points of each center in the iteration to which a step belongs."""
        counts = tf.convert_to_tensor(self._counts)
        if not self._has_long_iterations:
            return counts
        return tf.where(self._is_over(), tf.zeros_like(counts), counts)

    def _count_down(self) -> tf.Tensor:
        per_iteration = tf.constant(self._steps_per_iteration, tf.int64)
        return tf.where(self._is_over(), per_iteration, self._steps_left) - 1

    def _as_directions(self, centers: tf.Tensor) -> tf.Tensor:
        return tf.math.l2_normalize(centers, axis=1) if self._cosine else centers

    def normalize(self, centers: np.ndarray) -> np.ndarray:
        """Returns first centers as directions, where distances are between directions."""
        if not self._cosine:
            return centers
        return centers / np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), _EPSILON)

    def assign(self, centers: tf.Tensor) -> tf.Operation:
        """Builds the operation that assigns first centers, float32 of shape [count, size]."""
        operations = [self.centers.assign(centers), self.initialized.assign(True)]
        if self._mini_batch:
            first = 0 if self._steps_per_iteration > 1 else 1
            operations.append(
                self._counts.assign(tf.fill([self.count], tf.constant(first, tf.int64)))
            )
            if self._steps_per_iteration > 1:
                operations.append(self._moving.assign(centers))
                operations.append(self._steps_left.assign(self._steps_per_iteration))
        return tf.group(*operations)


class FirstCenters:
    """Choice of the first centers from batches; for arguments see `KMeansClustering`.

    Args:
      initial: The centers, a function, "random" or "kmeans_plus_plus".
      seed: Seed of the choice.
      retries: Candidates for each center of k-means++.
    """

    def __init__(self, initial: Any, seed: int | None, retries: int) -> None:
        self._initial, self._seed, self._retries = initial, seed, retries

    def build(self, clusters: Clusters) -> None:
        """Builds the operations that choose centers of these clusters."""
        self._count = clusters.count
        self._random = np.random.RandomState(self._seed)
        self._missing = _v1.placeholder(tf.int32, [], "missing_clusters")
        self._rows = points = clusters.points
        if callable(self._initial):
            self._rows = tf.convert_to_tensor(self._initial([points], self._missing), tf.float32)
        elif isinstance(self._initial, str) and self._initial == "kmeans_plus_plus":
            self._rows = self._choose_plus_plus(points)

    def choose(self, session: Any) -> np.ndarray:
        """Chooses first centers, float32 of shape [count, size].

        Raises:
          ValueError: The input ends before there are enough.
          InvalidArgumentError: A batch has too few points for k-means++.
        """
        if not (isinstance(self._initial, str) or callable(self._initial)):
            return np.asarray(self._initial, np.float32)
        found: list[np.ndarray] = []
        while len(found) < self._count:
            missing = self._count - len(found)
            try:
                rows = session.run(self._rows, {self._missing: missing})
            except tf.errors.OutOfRangeError:
                raise ValueError(
                    f"num_clusters is {self._count}, but the input has only {len(found)} points "
                    "to choose first centers from."
                ) from None
            if len(rows) > missing:
                rows = rows[self._random.choice(len(rows), missing, replace=False)]
            found.extend(rows)
        return np.stack(found)

    def _choose_plus_plus(self, points: tf.Tensor) -> tf.Tensor:
        """Returns centers far from each other, all from one batch."""
        # The original passes on the first of the two seeds alone, that of the graph.
        graph_seed, _ = _v1.random.get_seed(self._seed)
        if graph_seed is None:
            graph_seed = self._random.randint(2**31)
        enough = tf.debugging.assert_greater_equal(tf.shape(points)[0], self._count)
        with tf.control_dependencies([enough]):
            return tf.raw_ops.KmeansPlusPlusInitialization(
                points=points,
                num_to_sample=self._count,
                seed=graph_seed,
                num_retries_per_sample=self._retries,
            )


class InitializeHook(PhasedHook):
    """Hook that chooses the first centers of clusters, unless the checkpoint has centers.

    Args:
      clusters: The clusters.
      choice: The choice of first centers.
    """

    # Runs before the first checkpoint, which must hold the centers.
    phase = HookPhase.SETS_VARIABLES

    def __init__(self, clusters: Clusters, choice: FirstCenters) -> None:
        self._clusters, self._choice = clusters, choice

    def begin(self) -> None:
        """Builds the operations that choose and assign centers."""
        shape = self._clusters.centers.shape
        self._first = _v1.placeholder(tf.float32, shape, "initial_clusters")
        self._assign = self._clusters.assign(self._first)
        self._choice.build(self._clusters)

    def steps_until_due(self, global_step: int) -> None:
        """Returns None: the hook waits for no step."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Chooses centers unless the checkpoint has centers."""
        if not session.run(self._clusters.initialized):
            centers = self._clusters.normalize(self._choice.choose(session))
            session.run(self._assign, {self._first: centers})


def _count_step() -> tf.Operation:
    return _v1.assign_add(_v1.train.get_or_create_global_step(), 1).op


class CountLastRunHook(PhasedHook):
    """Hook that counts the run in which the input ended as a step, as tf.estimator 2.15 does.

    A call of `train` then saves a new checkpoint even if the choice of first centers consumed the
    whole input.

    Args:
      build: Builds the operation that counts the step, and does what else belongs to it.
    """

    phase = HookPhase.SETS_VARIABLES

    def __init__(self, build: Callable[[], tf.Operation] = _count_step) -> None:
        self._build = build

    def begin(self) -> None:
        """Builds the operation that counts a step."""
        self._count = self._build()
        self._is_running = False

    def steps_until_due(self, global_step: int) -> None:
        """Notes that a loop of steps begins, in which the input may end."""
        self._is_running = True

    def before_run(self, run_context: RunContext) -> None:
        """Notes that a run begins."""
        self._is_running = True

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Notes that the run ended."""
        self._is_running = False

    def end(self, session: Any) -> None:
        """Counts the run that the end of the input interrupted."""
        if self._is_running:
            session.run(self._count)


class StopAtToleranceHook(Hook):
    """Hook that stops training when the loss hardly changes.

    Args:
      loss: Scalar tensor.
      tolerance: Maximum relative change of the loss at which training stops.
    """

    def __init__(self, loss: tf.Tensor, tolerance: float) -> None:
        self._loss = loss
        self._tolerance = tolerance
        self._last: float | None = None

    def before_run(self, run_context: RunContext) -> Any:
        """Requests the loss."""
        return _v1.train.SessionRunArgs(self._loss)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Compares the loss with the previous one."""
        loss, last = float(run_values.results), self._last
        self._last = loss
        if last is not None and (not last or abs(last - loss) / last < self._tolerance):
            run_context.request_stop()


def _create_variable(name: str, shape: Any, dtype: tf.DType) -> tf.Variable:
    return _v1.get_variable(
        name,
        shape,
        dtype,
        initializer=_v1.zeros_initializer(),
        use_resource=True,
    )
