"""Matrix factorization by weighted alternating least squares, of `tf.contrib.factorization`.

The rows of a sparse matrix A get factors U and its columns factors V, such that U times the
transposed V is near A (Hu, Koren, Volinsky: "Collaborative Filtering for Implicit Feedback
Datasets", 2008). An entry of A has the weight `unobserved_weight`, and in addition the product of
the weights of its row and column if the sparse matrix contains it. A sweep over the rows solves
for U, a sweep over the columns for V.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.extension import CountLastRunHook
from tf_contrib._types import Hook, RunContext, RunValues
from tf_contrib.factorization.alternating import (
    Factors,
    LeastSquares,
    Side,
    Weights,
    create_side,
    create_variable,
    multiply_weights,
)
from tf_contrib.learn.estimators import Estimator
from tf_contrib.learn.model_fns import ModelFnOps

_v1 = tf.compat.v1


class WALSMatrixFactorization(Estimator):
    """Estimator of the factors of a matrix.

    Its input_fn returns a dict with the keys INPUT_ROWS and INPUT_COLS, of batches of rows and of
    columns (transposed). These are SparseTensors with the indices of the complete matrix.

    Args:
      num_rows: Number of rows.
      num_cols: Number of columns.
      embedding_dimension: Number of factors of a row or column.
      unobserved_weight: Weight of all entries.
      regularization_coeff: Factor of the squared factors in the loss, or None.
      row_init: Initial factors of the rows: "random", an array, or an array for each shard.
      col_init: Initial factors of the columns.
      num_row_shards: Number of variables of the factors of rows.
      num_col_shards: Number of variables of the factors of columns.
      row_weights: Weights of the rows: a number, one for each row, or None.
      col_weights: Weights of the columns.
      use_factors_weights_cache_for_training: Unused.
      use_gramian_cache_for_training: Unused.
      max_sweeps: Number of sweeps at which training ends; None: no limit.
      model_dir: Directory of the model.
      config: Settings of the run.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: Factors = "random",
        col_init: Factors = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Weights = 1,
        col_weights: Weights = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: str | None = None,
        config: v1.RunConfig | None = None,
    ) -> None:
        self._shard_counts = {"row": num_row_shards, "col": num_col_shards}
        self._squares = LeastSquares(unobserved_weight, regularization_coeff or 0.0)
        self._max_sweeps = max_sweeps

        def create(name: str, key: str, size: int, initial: Factors, weights: Weights) -> Side:
            count = self._shard_counts[name]
            sizes = [size // count + (index < size % count) for index in range(count)]
            return create_side(name, key, sizes, embedding_dimension, initial, weights)

        def model_fn(features: Any, labels: None, mode: str) -> ModelFnOps:
            del labels
            rows = create("row", self.INPUT_ROWS, num_rows, row_init, row_weights)
            columns = create("col", self.INPUT_COLS, num_cols, col_init, col_weights)
            if mode == "train":
                return self._build_sweeps(features, rows, columns)
            return self._build_projection(features, rows, columns, mode)

        super().__init__(model_fn, model_dir, config)

    def get_row_factors(self) -> list[np.ndarray]:
        """Returns the factors of the rows, an array for each shard."""
        return self._get_factors("row")

    def get_col_factors(self) -> list[np.ndarray]:
        """Returns the factors of the columns, an array for each shard."""
        return self._get_factors("col")

    def get_projections(self, input_fn: Callable[[], Any]) -> Iterator[np.ndarray]:
        """Yields the factors of new rows, or of new columns if PROJECT_ROW is False.

        Args:
          input_fn: Function that returns the features with the keys INPUT_ROWS, INPUT_COLS,
            PROJECT_ROW and, optionally, PROJECTION_WEIGHTS with the weight of each row.
        """
        return (one[self.PROJECTION_RESULT] for one in self.predict(input_fn=input_fn))

    def _get_factors(self, name: str) -> list[np.ndarray]:
        count = self._shard_counts[name]
        return [self.get_variable_value(f"{name}_factors_shard_{i}") for i in range(count)]

    def _build_sweeps(self, features: Any, rows: Side, columns: Side) -> ModelFnOps:
        is_row_sweep = create_variable("is_row_sweep", [], tf.bool, initial=False)
        # Training starts at the end of a sweep over the columns.
        is_done = create_variable("is_sweep_done", [], tf.bool, initial=True)
        sweeps = create_variable(self.COMPLETED_SWEEPS, [], tf.int64)
        loss, error = (create_variable(name, []) for name in (self.LOSS, self.RWSE))
        step = _v1.train.get_global_step()
        with tf.control_dependencies([_start_sweep(is_row_sweep, is_done, rows, columns)]):
            processed_all, new_loss, new_error = tf.cond(
                is_row_sweep.read_value(),
                lambda: self._squares.update(features[rows.key], rows, columns),
                lambda: self._squares.update(features[columns.key], columns, rows),
            )
        with tf.control_dependencies([processed_all]):
            updates = [
                is_done.assign(processed_all),
                sweeps.assign_add(tf.cast(processed_all, tf.int64)),
                loss.assign(new_loss),
                error.assign(new_error),
                _v1.assign_add(step, 1),
            ]
        _v1.summary.scalar("root_weighted_squared_error", new_error)
        _v1.summary.scalar(self.COMPLETED_SWEEPS, sweeps)
        hooks: list[Any] = [CountLastRunHook()]
        if self._max_sweeps is not None:
            hooks.append(_SweepLimitHook(sweeps, self._max_sweeps))
        train_op = tf.group(*updates)
        return ModelFnOps("train", {}, new_loss, train_op, training_hooks=hooks)

    def _build_projection(self, features: Any, rows: Side, columns: Side, mode: str) -> ModelFnOps:
        """Builds the projection of new rows or columns, and its loss."""

        def project(side: Side, other: Side) -> tuple[tf.Tensor, tf.Tensor]:
            batch, fixed = features[side.key], other.factors
            # As in TensorFlow 1: that of the last sweep over this side.
            gramian = other.gramian.read_value()
            given = side.weights
            if given is not None and self.PROJECTION_WEIGHTS in features:
                given = tf.reshape(features[self.PROJECTION_WEIGHTS], [-1])
            elif given is not None and mode == "infer":
                given = tf.ones([batch.dense_shape[0]])
            weights = multiply_weights(batch, given, other.weights)
            indices, solved = self._squares.solve(batch, fixed, gramian, weights)
            size = tf.cast(batch.dense_shape[0], indices.dtype)
            shape = tf.stack([size, tf.constant(int(fixed.shape[1]), indices.dtype)])
            projected = tf.scatter_nd(indices[:, None], solved, shape)
            loss, _ = self._squares.compute_loss(batch, indices, projected, fixed, gramian, weights)
            return projected, loss

        projected, loss = tf.cond(
            tf.squeeze(features[self.PROJECT_ROW]),
            lambda: project(rows, columns),
            lambda: project(columns, rows),
        )
        predictions = {self.PROJECTION_RESULT: projected}
        return ModelFnOps(mode, predictions, None if mode == "infer" else loss)


class _SweepLimitHook(Hook):
    """Hook that stops training after a number of sweeps."""

    def __init__(self, sweeps: tf.Variable, max_sweeps: int) -> None:
        self._sweeps, self._max_sweeps = sweeps, max_sweeps

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Reads the number after the step, and stops at the limit."""
        if run_context.session.run(self._sweeps) >= self._max_sweeps:
            run_context.request_stop()


def _start_sweep(
    is_row_sweep: tf.Variable, is_done: tf.Variable, rows: Side, columns: Side
) -> tf.Operation:
    """Starts the sweep over the other side if the last one is done."""

    def start() -> tf.Operation:
        cleared = [side.processed.assign(tf.zeros_like(side.processed)) for side in (rows, columns)]
        return tf.group(is_row_sweep.assign(~is_row_sweep.read_value()), *cleared)

    return tf.cond(is_done.read_value(), start, tf.no_op)
