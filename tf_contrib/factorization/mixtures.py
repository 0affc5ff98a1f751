"""Mixtures of normal distributions of `tf.contrib.factorization`.

Expectation maximization (Dempster, Laird and Rubin, 1977), with 0.001 added to variances.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.extension import CountLastRunHook, HookPhase, PhasedHook
from tf_contrib._types import Features, Session, TensorLike
from tf_contrib.learn.estimators import Estimator
from tf_contrib.learn.keys import ModeKeys
from tf_contrib.learn.model_fns import ModelFnOps
from tf_contrib.metrics.concatenation import streaming_concat

_v1 = tf.compat.v1
_FULL, _DIAGONAL, _RANDOM = "full", "diag", "random"
_MIN_VARIANCE = 1e-3


class _Mixture:
    """Mixture in the default graph; see `gmm` for the arguments."""

    def __init__(
        self, points: tf.Tensor, count: int, params: str, covariance_type: str, seed: int
    ) -> None:
        if covariance_type not in (_FULL, _DIAGONAL):
            raise ValueError(f"covariance_type must be 'full' or 'diag', got {covariance_type!r}.")
        self._points, self._params, self._seed = points, params, seed
        self._count, self._size = count, int(points.shape[-1])
        self._is_full = covariance_type == _FULL
        square = [self._size] * (2 if self._is_full else 1)
        self.means = _create_variable("clusters", [count, 1, self._size])
        self.covariances = _create_variable("clusters_covs", [count, *square])
        self.weights = _create_variable("alphas", [count])
        self.initialized = _create_variable("initialized", [], tf.bool)
        logs = self._compute_log_probabilities()
        self.scores = tf.reduce_logsumexp(logs, 1, keepdims=True)
        self.log_likelihood = tf.reduce_logsumexp(self.scores)
        self.assignments = tf.argmax(logs, 1)
        self._shares = tf.exp(logs - self.scores)

    def _compute_log_probabilities(self) -> tf.Tensor:
        """Returns the logarithms of densities times weights, [batch, count]."""
        differences = self._points[None] - self.means
        if self._is_full:
            factors = tf.linalg.cholesky(self._add_minimum(self.covariances))
            scaled = tf.linalg.triangular_solve(factors, tf.transpose(differences, [0, 2, 1]))
            squares = tf.reduce_sum(scaled**2, 1)
            log_determinants = 2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factors)), 1)
        else:
            variances = self._add_minimum(self.covariances)
            squares = tf.reduce_sum(differences**2 / variances[:, None], 2)
            log_determinants = tf.reduce_sum(tf.math.log(variances), 1)
        constants = self._size * math.log(2 * math.pi) + log_determinants
        return tf.transpose(tf.math.log(self.weights)[:, None] - (constants[:, None] + squares) / 2)

    def build_init_op(self, initial_means: Any) -> tf.Operation:
        """Builds the operation that assigns the first means, covariances and weights."""
        count = tf.cast(tf.shape(self._points)[0], tf.float32)
        centered = self._points - tf.reduce_mean(self._points, 0)
        covariance = tf.matmul(centered, centered, transpose_a=True) / (count - 1)
        covariance = covariance if self._is_full else tf.linalg.diag_part(covariance)
        covariance = self._add_minimum(covariance)
        means = initial_means
        if isinstance(means, str):
            order = tf.random.shuffle(tf.range(tf.shape(self._points)[0]), self._seed)
            means = tf.gather(self._points, order[: self._count])
        means = tf.reshape(tf.cast(means, tf.float32), [self._count, 1, self._size])
        return tf.group(
            self.means.assign(means),
            self.covariances.assign(tf.stack([covariance] * self._count)),
            self.weights.assign(tf.fill([self._count], 1 / self._count)),
            self.initialized.assign(True),
        )

    def build_train_op(self) -> tf.Operation:
        """Builds the operation of a step: each distribution gets the moments of its shares."""
        totals = tf.reduce_sum(self._shares, 0)
        means = tf.matmul(self._shares, self._points, transpose_a=True) / totals[:, None]
        differences = self._points[None] - means[:, None]
        weighted = tf.transpose(self._shares)[:, :, None] * differences
        if self._is_full:
            products = tf.matmul(weighted, differences, transpose_a=True)
            covariances = products / totals[:, None, None]
        else:
            covariances = tf.reduce_sum(weighted * differences, 1) / totals[:, None]
        new: dict[str, Any] = {
            "w": (self.weights, totals / tf.cast(tf.shape(self._points)[0], tf.float32)),
            "m": (self.means, means[:, None]),
            "c": (self.covariances, self._add_minimum(covariances)),
        }
        values = {key: pair for key, pair in new.items() if key in self._params}
        # All are computed from the old variables.
        with tf.control_dependencies([value for _, value in values.values()]):
            return tf.group(*[variable.assign(value) for variable, value in values.values()])

    def _add_minimum(self, covariances: tf.Tensor) -> tf.Tensor:
        minimum = tf.eye(self._size) if self._is_full else 1.0
        return covariances + _MIN_VARIANCE * minimum


def _create_variable(name: str, shape: list[int], dtype: tf.DType = tf.float32) -> tf.Variable:
    return _v1.Variable(tf.zeros(shape, dtype), name=name, use_resource=True, trainable=False)


def gmm(
    inp: TensorLike,
    initial_clusters: Any,
    num_clusters: int,
    random_seed: int,
    covariance_type: str = _FULL,
    params: str = "wmc",
) -> tuple[Any, ...]:
    """Builds the graph of a mixture of normal distributions.

    Args:
      inp: Points of shape [batch, size].
      initial_clusters: First means of shape [num_clusters, size], or "random".
      num_clusters: Number of distributions.
      random_seed: Seed of the choice of first means.
      covariance_type: "full" or "diag".
      params: Letters of the parts to train: w(eights), m(eans), c(ovariances).

    Returns:
      The log likelihood; that of each point; the number of each point's distribution, in a list of
      a list; the operation of a step; the operation that assigns first values; a variable that
      tells whether this is done.
    """
    points = tf.convert_to_tensor(inp, tf.float32)
    mixture = _Mixture(points, num_clusters, params, covariance_type, random_seed)
    return (
        mixture.log_likelihood,
        mixture.scores,
        [[mixture.assignments]],
        mixture.build_train_op(),
        mixture.build_init_op(initial_clusters),
        mixture.initialized,
    )


class _InitializeHook(PhasedHook):
    """Hook that assigns first values unless the checkpoint has values.

    Args:
      initialized: Whether there are values.
      init_op: Operation that assigns them.
    """

    # Runs before the first checkpoint, which must hold the first values.
    phase = HookPhase.SETS_VARIABLES

    def __init__(self, initialized: tf.Variable, init_op: tf.Operation) -> None:
        self._initialized, self._init_op = initialized, init_op

    def after_create_session(self, session: Session, coord: tf.train.Coordinator) -> None:
        """Assigns first values."""
        del coord
        if not session.run(self._initialized):
            session.run(self._init_op)


class GMM(Estimator):
    """Estimator of a mixture of normal distributions; the features are the points.

    Arguments that are not listed are those of `gmm`.

    Args:
      num_clusters: Number of distributions.
      model_dir: Directory of the model.
      random_seed: Seed of the choice of first means.
      params: Letters of the parts to train.
      initial_clusters: First means, or "random".
      covariance_type: "full" or "diag".
      config: Settings of the run.
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        random_seed: int = 0,
        params: str = "wmc",
        initial_clusters: Any = _RANDOM,
        covariance_type: str = _FULL,
        config: v1.RunConfig | None = None,
    ) -> None:
        def model_fn(features: Features, labels: Any, mode: str) -> ModelFnOps:
            del labels
            points = _join_features(features)
            loss, scores, assignments, train_op, init_op, initialized = gmm(
                points, initial_clusters, num_clusters, random_seed, covariance_type, params
            )
            step = _v1.train.get_global_step()
            with tf.control_dependencies([train_op]):
                train_op = _v1.assign_add(step, 1)
            return ModelFnOps(
                mode,
                {self.ASSIGNMENTS: assignments[0][0]},
                loss,
                train_op if mode == ModeKeys.TRAIN else None,
                {self.SCORES: streaming_concat(scores)} if mode == ModeKeys.EVAL else None,
                training_hooks=[_InitializeHook(initialized, init_op), CountLastRunHook()],
            )

        super().__init__(model_fn, model_dir, config)

    def predict_assignments(
        self,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: object = None,
    ) -> Iterator[int]:
        """Yields the number of the distribution of each point."""
        del outputs
        for row in self.predict(input_fn=input_fn, batch_size=batch_size):
            yield row[self.ASSIGNMENTS]

    def score(
        self,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
    ) -> float:
        """Returns the log likelihood."""
        results = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return results[self.LOG_LIKELIHOOD]

    def clusters(self) -> np.ndarray:
        """Returns the means, float32 of shape [num_clusters, size]."""
        return self.get_variable_value("clusters")[:, 0]

    def covariances(self) -> np.ndarray:
        """Returns the covariances, [num_clusters, size, size], or the variances."""
        return self.get_variable_value("clusters_covs")

    def weights(self) -> np.ndarray:
        """Returns the weights of the distributions."""
        return self.get_variable_value("alphas")


def _join_features(features: Any) -> tf.Tensor:
    if isinstance(features, Mapping):
        return tf.concat([features[name] for name in sorted(features)], 1)
    return features
