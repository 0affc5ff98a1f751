"""`Experiment` and `learn_runner` of `tf.contrib.learn`, which `train_and_evaluate` replaced."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

import estimator_train as est
from estimator_train.estimator import Estimator
from estimator_train.legacy.contrib._types import Hook
from estimator_train.legacy.contrib.learn.estimators import LearnEstimator
from estimator_train.legacy.contrib.learn.export_strategies import ExportStrategy
from estimator_train.legacy.contrib.learn.monitors import replace_monitors_with_hooks
from estimator_train.legacy.contrib.learn.run_config import RunConfig
from estimator_train.legacy.contrib.training.hparams import HParams


class Experiment:
    """Estimator with its input functions, to train and evaluate.

    Arguments that are not listed are unused: each checkpoint is evaluated when it is written.

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
      export_strategies: ExportStrategy, or a list of them.
      train_steps_per_iteration: Steps between evaluations of `continuous_train_and_eval`.
      checkpoint_and_export: Whether each evaluated checkpoint is exported, not only the last.
      saving_listeners: CheckpointSaverListeners of training.

    Raises:
      ValueError: estimator is not an Estimator, or one of tf.estimator and eval_metrics are given.
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
        """Replaces the export strategies and returns the old ones."""
        old, new = self._strategies, new_export_strategies or ()
        self._strategies = (new,) if isinstance(new, ExportStrategy) else tuple(new)
        return old

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains the estimator and returns it."""
        input_fn, steps, hooks = self._train
        return self._estimator.train(
            input_fn, hooks=hooks, max_steps=steps, saving_listeners=self._listeners
        )

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
        train_fn, steps, hooks = self._train
        eval_fn, eval_steps, eval_hooks = self._eval
        return est.train_and_evaluate(
            self._evaluated,
            est.TrainSpec(train_fn, steps, hooks=hooks, saving_listeners=self._listeners),
            est.EvalSpec(
                eval_fn, eval_steps, hooks=eval_hooks, start_delay_secs=self._eval_delay,
                exporters=self._create_exporters(self._exports_each),
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
        should_continue = continuous_eval_predicate_fn or (lambda _: True)
        results: Any = None
        while should_continue(results) and not self._has_trained_all_steps(results):
            self._estimator.train(
                input_fn,
                hooks,
                steps=self._steps_per_iteration or last_step,
                saving_listeners=self._listeners,
            )
            results = self.evaluate()
        return results, [self._export(one, results) for one in self._create_exporters(False)]

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
        time.sleep(self._eval_delay if delay_secs is None else delay_secs)
        throttle = (
            self._seconds_between_evals if throttle_delay_secs is None else throttle_delay_secs
        )
        should_continue = continuous_eval_predicate_fn or (lambda _: True)
        input_fn, steps, hooks = self._eval
        results, evaluated_path = None, None
        while should_continue(results) and not self._has_trained_all_steps(results):
            start = time.time()
            path = tf.train.latest_checkpoint(self._estimator.model_dir)
            if path and not (evaluate_checkpoint_only_once and path == evaluated_path):
                results = self._evaluated.evaluate(
                    input_fn, steps=steps, hooks=hooks, checkpoint_path=path, name=name
                )
                evaluated_path = path
            time.sleep(max(0.0, throttle - (time.time() - start)))

    def _has_trained_all_steps(self, results: Mapping[str, Any] | None) -> bool:
        last_step = self._train[1]
        if not results or last_step is None:
            return False
        return bool(results["global_step"] >= last_step)

    def _create_exporters(self, exports_each: bool) -> list[est.Exporter]:
        return [_StrategyExporter(self._estimator, s, exports_each) for s in self._strategies]

    def _export(self, exporter: est.Exporter, results: Any) -> Any:
        directory = os.path.join(self._estimator.model_dir, "export", exporter.name)
        path = tf.train.latest_checkpoint(self._estimator.model_dir)
        return exporter.export(self._estimator, directory, path, results, True)

    def run_std_server(self) -> None:
        """Serves as a parameter server until training ends."""
        self._estimator.train(self._train[0])


class _StrategyExporter(est.Exporter):
    """Exporter that calls an export strategy.

    Args:
      estimator: The estimator that the strategy exports.
      strategy: The strategy.
      exports_each: Whether it exports each evaluated checkpoint, not only the last.
    """

    def __init__(self, estimator: Any, strategy: ExportStrategy, exports_each: bool) -> None:
        self._estimator, self._strategy, self._exports_each = estimator, strategy, exports_each
        self._last: tuple[str | None, Any] = None, None

    @property
    def name(self) -> str:
        """The name of its directory below `model_dir/export`."""
        return self._strategy.name

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Calls the strategy, once for a checkpoint."""
        if self._last[0] != checkpoint_path and (self._exports_each or is_the_final_export):
            # As in TensorFlow 1.15, whose strategies get a path of bytes, and no checkpoint if
            # they export the last one only.
            path = checkpoint_path if self._exports_each else None
            directory = os.fsencode(export_path)
            exported = self._strategy.export(self._estimator, directory, path, eval_result)
            self._last = checkpoint_path, exported
        return self._last[1]


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: RunConfig | None = None,
    hparams: HParams | None = None,
) -> Any:
    """Creates an experiment and calls one of its methods.

    Args:
      experiment_fn: Function of run_config and hparams, or of output_dir, that returns an
        Experiment.
      output_dir: Directory of the model.
      schedule: Name of the method; `train_and_evaluate` by default.
      run_config: RunConfig with a model_dir.
      hparams: Hyperparameters; they require run_config.

    Raises:
      ValueError: Not exactly one of output_dir and run_config is given, an argument has the wrong
        type, or there is no such method.
      TypeError: experiment_fn is not callable, or returns no Experiment.
    """
    if (output_dir is None) == (run_config is None):
        raise ValueError("Exactly one of `output_dir` and `run_config` must be given.")
    if run_config is None:
        if not output_dir or hparams is not None:
            raise ValueError(
                "`output_dir` must be a directory, and `hparams` require a `run_config`."
            )
    elif not isinstance(run_config, RunConfig) or not run_config.model_dir:
        raise ValueError("`run_config` must be a tf.contrib.learn.RunConfig with a `model_dir`.")
    elif hparams is not None and not isinstance(hparams, HParams):
        raise ValueError("`hparams` must be `HParams` instance.")
    if not callable(experiment_fn):
        raise TypeError(f"Experiment builder '{experiment_fn}' is not callable.")
    arguments = (output_dir,) if run_config is None else (run_config, hparams)
    experiment = experiment_fn(*arguments)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder returned no Experiment: {experiment}")
    method = getattr(experiment, schedule or "train_and_evaluate", None)
    if not callable(method) or (schedule or "").startswith("_"):
        raise ValueError(f"Schedule '{schedule}' is none of an Experiment's.")
    return method()


def tune(experiment_fn: Callable[..., Experiment], tuner: Any) -> None:
    """Calls the tuner for experiments until it has no next trial.

    Args:
      experiment_fn: Function of run_config and hparams that returns an Experiment.
      tuner: Tuner; see `tf.contrib.training.python.training.tuner.Tuner`.
    """
    while tuner.next_trial():
        tuner.run_experiment(experiment_fn)
