"""`Experiment` of `tf.contrib.learn`, which `train_and_evaluate` replaced."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import tensorflow as tf

import estimator_train as est
from estimator_train.compat.v1 import Estimator
from estimator_train.extension import handle_preemption
from tf_contrib._types import Hook
from tf_contrib.learn.estimators import LearnEstimator
from tf_contrib.learn.experiments.evaluations import (
    EvaluateAndExportListener,
    EvaluateNewCheckpointsHook,
    StrategyExporter,
)
from tf_contrib.learn.export_strategies import ExportStrategy
from tf_contrib.learn.monitors import replace_monitors_with_hooks


class Experiment:
    """Estimator with its input functions, to train and evaluate.

    Arguments that are not listed are unused.

    Args:
      estimator: Estimator.
      train_input_fn: Input function of training.
      eval_input_fn: Input function of evaluation.
      eval_metrics: MetricSpecs of an estimator of `contrib.learn` by name.
      train_steps: Global step at which training ends; None: at the end of the input.
      eval_steps: Number of batches of an evaluation; None: all.
      train_monitors: Monitors and hooks of training.
      eval_hooks: Hooks of evaluation.
      eval_delay_secs: Seconds before the first evaluation.
      continuous_eval_throttle_secs: Seconds between evaluations of `continuous_eval`.
      min_eval_frequency: Minimum steps between evaluations of `train_and_evaluate`, each of a new
        checkpoint; by default 1. With 0 it evaluates only the last checkpoint.
      export_strategies: ExportStrategy, or a list of them.
      train_steps_per_iteration: Steps between evaluations of `continuous_train_and_eval`; by
        default a tenth of train_steps.
      checkpoint_and_export: Whether `train_and_evaluate` evaluates and exports each checkpoint when
        it is written; by default it exports only the last.
      saving_listeners: CheckpointSaverListeners of training.
      check_interval_secs: Minimum seconds between checks for a new checkpoint to evaluate.

    Raises:
      ValueError: estimator is not an Estimator, or one of tf.estimator and eval_metrics are given,
        or export_strategies are of another type.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: Mapping[Any, Any] | None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Any] | None = None,
        eval_hooks: Sequence[Hook] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: ExportStrategy | Sequence[ExportStrategy] | None = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[Any] | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        if not isinstance(estimator, Estimator):
            raise ValueError(f"`estimator` must be an Estimator: {estimator}")
        self._estimator = self._evaluated = estimator
        if eval_metrics:
            if not isinstance(estimator, LearnEstimator):
                raise ValueError(
                    "Experiment(eval_metrics=...) needs an estimator of tf.contrib.learn: return "
                    "eval_metric_ops in model_fn's EstimatorSpec, or use tf.estimator.add_metrics."
                )
            self._evaluated = estimator.add_metrics(eval_metrics)
        train_hooks = replace_monitors_with_hooks(train_monitors, estimator)
        self._train = (train_input_fn, train_steps, train_hooks)
        self._eval = (eval_input_fn, eval_steps, list(eval_hooks or ()))
        self._eval_delay, self._seconds_between_evals = (
            eval_delay_secs,
            continuous_eval_throttle_secs,
        )
        self._eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._check_interval = check_interval_secs
        self._steps_per_iteration = train_steps_per_iteration
        self._listeners = saving_listeners
        self._exports_each = checkpoint_and_export
        self._strategies: tuple[ExportStrategy, ...] = ()
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    @property
    def train_steps(self) -> int | None:
        """Global step at which training ends."""
        return self._train[1]

    @property
    def eval_steps(self) -> int | None:
        """Number of batches of an evaluation."""
        return self._eval[1]

    def extend_train_hooks(self, additional_hooks: Sequence[Hook]) -> None:
        """Adds hooks of training."""
        self._train[2].extend(additional_hooks)

    def reset_export_strategies(
        self, new_export_strategies: ExportStrategy | Sequence[ExportStrategy] | None = None
    ) -> tuple[Any, ...]:
        """Replaces the export strategies and returns the old ones.

        Raises:
          ValueError: One of them is no ExportStrategy.
        """
        old, new = self._strategies, new_export_strategies or ()
        strategies = (new,) if isinstance(new, ExportStrategy) else tuple(new)
        for strategy in strategies:
            if not isinstance(strategy, ExportStrategy):
                raise ValueError(
                    "`export_strategies` must be an ExportStrategy, an iterable of "
                    f"ExportStrategy, or `None`, found {strategy}."
                )
        self._strategies = strategies
        return old

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains the estimator and returns it."""
        return self._train_with()

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> dict[str, Any]:
        """Evaluates the latest checkpoint and returns the metrics."""
        input_fn, steps, hooks = self._eval
        return self._evaluated.evaluate(
            input_fn, steps=steps, hooks=hooks, name="one_pass" if name is None else name
        )

    def test(self) -> dict[str, Any]:
        """Trains one step, evaluates one batch and returns the metrics."""
        self._estimator.train(self._train[0], hooks=self._train[2], steps=1)
        return self._evaluated.evaluate(self._eval[0], steps=1, name="one_pass")

    def train_and_evaluate(self) -> Any:
        """Trains, evaluates and exports; returns the metrics and the paths of exports."""
        config = self._estimator.config
        if config.cluster_spec or config.task_type == "evaluator":
            return self._run_role()
        with handle_preemption(config.preemption):
            if self._exports_each:
                return self._train_and_export_each()
            hooks = []
            if self._eval_frequency:
                hooks.append(
                    EvaluateNewCheckpointsHook(
                        self._estimator,
                        self._evaluate_latest,
                        max(1, self._eval_frequency),
                        self._check_interval,
                    )
                )
            self._train_with(hooks)
            results = self._evaluate_latest()
            return results, self._export(results)

    def _train_and_export_each(self) -> Any:
        listener = EvaluateAndExportListener(
            lambda: self._evaluate_latest("intermediate_export"),
            lambda results: self._export(results, self._estimator.latest_checkpoint()),
        )
        self._train_with(listeners=[listener])
        return listener.results, listener.exports

    def _train_with(self, hooks: Sequence[Hook] = (), listeners: Sequence[Any] = ()) -> Any:
        input_fn, steps, own_hooks = self._train
        return self._estimator.train(
            input_fn,
            hooks=[*own_hooks, *hooks],
            max_steps=steps,
            saving_listeners=[*(self._listeners or ()), *listeners],
        )

    def _evaluate_latest(self, name: str | None = None) -> dict[str, Any]:
        input_fn, steps, hooks = self._eval
        return self._evaluated.evaluate(input_fn=input_fn, steps=steps, hooks=hooks, name=name)

    def _export(self, results: Any, path: str | None = None) -> list[Any]:
        """Exports a checkpoint by all strategies; None is the latest checkpoint."""
        exports = os.path.join(self._estimator.model_dir, "export")
        return [
            strategy.export(
                self._estimator, os.fsencode(os.path.join(exports, strategy.name)), path, results
            )
            for strategy in self._strategies
        ]

    def _run_role(self) -> Any:
        """Runs the part of `train_and_evaluate` of this task of a cluster."""
        train_fn, steps, hooks = self._train
        eval_fn, eval_steps, eval_hooks = self._eval
        exporters = [
            StrategyExporter(self._estimator, strategy, self._exports_each)
            for strategy in self._strategies
        ]
        return est.train_and_evaluate(
            self._evaluated,
            est.TrainSpec(train_fn, steps, hooks=hooks, saving_listeners=self._listeners),
            est.EvalSpec(
                eval_fn, eval_steps, hooks=eval_hooks, start_delay_secs=self._eval_delay,
                exporters=exporters,
            ),
        )  # fmt: skip

    def local_run(self) -> Any:
        """Calls `train_and_evaluate`."""
        return self.train_and_evaluate()

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[[Any], bool] | None = None
    ) -> Any:
        """Alternates training and evaluation, then exports.

        Args:
          continuous_eval_predicate_fn: Function of the metrics, at first None, that returns whether
            to continue.

        Returns:
          The metrics and the paths of exports.
        """
        input_fn, last_step, hooks = self._train
        steps = self._steps_per_iteration or (last_step and max(1, last_step // 10))
        should_continue = continuous_eval_predicate_fn or (lambda _: True)
        results: Any = None
        while should_continue(results) and not self._has_trained_all_steps(results):
            self._estimator.train(
                input_fn,
                hooks,
                steps=steps,
                saving_listeners=self._listeners,
            )
            results = self.evaluate()
        return results, self._export(results)

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[[Any], bool] | None = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates the checkpoints of another process until it has trained all steps.

        Args:
          delay_secs: Seconds before the first evaluation; by default eval_delay_secs.
          throttle_delay_secs: Seconds between evaluations; by default that of the constructor.
          evaluate_checkpoint_only_once: Whether to evaluate only new checkpoints.
          continuous_eval_predicate_fn: Function of the metrics, at first None, that returns whether
            to continue.
          name: Name of the evaluation.
        """
        self._evaluate_until_trained(
            self._eval[0],
            delay_secs,
            throttle_delay_secs,
            evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn or (lambda _: True),
            name,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Callable[[Any], bool] | None = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """Evaluates checkpoints, as `continuous_eval`, on the data of the training."""
        self._evaluate_until_trained(
            self._train[0],
            delay_secs,
            throttle_delay_secs,
            True,
            continuous_eval_predicate_fn or (lambda _: True),
            name,
        )

    def _evaluate_until_trained(
        self,
        input_fn: Callable[..., Any],
        delay_secs: float | None,
        throttle_delay_secs: float | None,
        evaluate_checkpoint_only_once: bool,
        should_continue: Callable[[Any], bool],
        name: str,
    ) -> None:
        time.sleep(self._eval_delay if delay_secs is None else delay_secs)
        throttle = (
            self._seconds_between_evals if throttle_delay_secs is None else throttle_delay_secs
        )
        _, steps, hooks = self._eval
        results, evaluated_path = None, None
        while should_continue(results) and not self._has_trained_all_steps(results):
            start = time.monotonic()
            path = tf.train.latest_checkpoint(self._estimator.model_dir)
            if path and not (evaluate_checkpoint_only_once and path == evaluated_path):
                results = self._evaluated.evaluate(
                    input_fn, steps=steps, hooks=hooks, checkpoint_path=path, name=name
                )
                evaluated_path = path
            time.sleep(max(0.0, throttle - (time.monotonic() - start)))

    def _has_trained_all_steps(self, results: Mapping[str, Any] | None) -> bool:
        last_step = self._train[1]
        if not results or last_step is None:
            return False
        return bool(results["global_step"] >= last_step)

    def run_std_server(self) -> NoReturn:
        """Serves as a parameter server until training ends, and then ends the process.

        The server of TensorFlow 1 never returned: programs have the code of workers after this.

        Raises:
          SystemExit: Training has ended.
        """
        self._estimator.train(self._train[0])
        raise SystemExit
