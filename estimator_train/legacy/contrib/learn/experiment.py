"""`Experiment` and `learn_runner` of `tf.contrib.learn`: what `train_and_evaluate` was before."""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train as est
from estimator_train.estimator import Estimator
from estimator_train.legacy.contrib.learn.monitors import replace_monitors_with_hooks
from estimator_train.legacy.contrib.learn.run_config import RunConfig
from estimator_train.legacy.contrib.training.hparams import HParams


class Experiment:
    """An estimator with its inputs: `train`, `evaluate`, `train_and_evaluate`.

    The other arguments are unused: every checkpoint is evaluated as it comes.

    Args:
      estimator: The estimator.
      train_input_fn: Input of training.
      eval_input_fn: Input of evaluation.
      eval_metrics: Not supported: metrics belong to the model_fn.
      train_steps: The step to train to; None: the input ends it.
      eval_steps: Batches of an evaluation; None: all.
      train_monitors: Monitors and hooks of training.
      eval_hooks: Hooks of evaluation.
      eval_delay_secs: Seconds before the first evaluation.
      continuous_eval_throttle_secs: Seconds from one evaluation of `continuous_eval` to the next.
      export_strategies: What `make_export_strategy` returned, or a list of such.
      train_steps_per_iteration: Steps between evaluations of `continuous_train_and_eval`.
      saving_listeners: CheckpointSaverListeners of training.

    Raises:
      ValueError: eval_metrics are given, or what is no estimator.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: Any = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[Any] | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        if not isinstance(estimator, Estimator):
            raise ValueError(f"`estimator` must be an Estimator: {estimator}")
        if eval_metrics:
            raise ValueError(
                "Experiment(eval_metrics=...): return eval_metric_ops in model_fn's EstimatorSpec, "
                "or use tf.estimator.add_metrics."
            )
        self._estimator = estimator
        train_hooks = replace_monitors_with_hooks(train_monitors, estimator)
        self._train = (train_input_fn, train_steps, train_hooks)
        self._eval = (eval_input_fn, eval_steps, list(eval_hooks or ()))
        self._delay, self._throttle = eval_delay_secs, continuous_eval_throttle_secs
        self._steps_per_iteration = train_steps_per_iteration
        self._listeners = saving_listeners
        self._exporters: tuple[Any, ...] = ()
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    @property
    def train_steps(self) -> int | None:
        """The step to train to."""
        return self._train[1]

    @property
    def eval_steps(self) -> int | None:
        """Batches of an evaluation."""
        return self._eval[1]

    def extend_train_hooks(self, additional_hooks: Any) -> None:
        """Adds hooks of training."""
        self._train[2].extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> tuple[Any, ...]:
        """Sets what `make_export_strategy` returned, or a list of such; returns the old ones."""
        old, new = self._exporters, new_export_strategies or ()
        self._exporters = tuple(new) if isinstance(new, (list, tuple)) else (new,)
        return old

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains; returns the estimator."""
        input_fn, steps, hooks = self._train
        return self._estimator.train(
            input_fn, hooks=hooks, max_steps=steps, saving_listeners=self._listeners
        )

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates the latest checkpoint; returns the metrics."""
        input_fn, steps, hooks = self._eval
        return self._estimator.evaluate(
            input_fn, steps=steps, hooks=hooks, name="one_pass" if name is None else name
        )

    def test(self) -> Any:
        """Trains one step and evaluates one batch; returns the metrics."""
        self._estimator.train(self._train[0], hooks=self._train[2], steps=1)
        return self._estimator.evaluate(self._eval[0], steps=1, name="one_pass")

    def train_and_evaluate(self) -> Any:
        """Trains, evaluates and exports; returns the metrics and what was exported."""
        train_fn, steps, hooks = self._train
        eval_fn, eval_steps, eval_hooks = self._eval
        return est.train_and_evaluate(
            self._estimator,
            est.TrainSpec(train_fn, steps, hooks=hooks, saving_listeners=self._listeners),
            est.EvalSpec(
                eval_fn, eval_steps, hooks=eval_hooks, exporters=self._exporters,
                start_delay_secs=self._delay,
            ),
        )  # fmt: skip

    def local_run(self) -> Any:
        """The same as `train_and_evaluate`."""
        return self.train_and_evaluate()

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[[Any], bool] | None = None
    ) -> Any:
        """Trains some steps and evaluates, again and again; exports at last.

        Args:
          continuous_eval_predicate_fn: Whether to go on, by the metrics; at first these are None.

        Returns:
          The metrics, and the paths of exports.
        """
        input_fn, last, hooks = self._train
        goes_on = continuous_eval_predicate_fn or (lambda _: True)
        results: Any = None
        while goes_on(results) and not self._is_done(results):
            self._estimator.train(
                input_fn,
                hooks,
                steps=self._steps_per_iteration or last,
                saving_listeners=self._listeners,
            )
            results = self.evaluate()
        return results, [self._export(one, results) for one in self._exporters]

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[[Any], bool] | None = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates the checkpoints that another process writes, until that has trained all steps.

        Args:
          delay_secs: Seconds to wait at first; by default eval_delay_secs.
          throttle_delay_secs: Seconds between evaluations; by default those of the constructor.
          evaluate_checkpoint_only_once: Whether only new checkpoints are evaluated.
          continuous_eval_predicate_fn: Whether to go on, by the metrics; at first these are None.
          name: Name of the evaluation.
        """
        time.sleep(self._delay if delay_secs is None else delay_secs)
        throttle = self._throttle if throttle_delay_secs is None else throttle_delay_secs
        goes_on = continuous_eval_predicate_fn or (lambda _: True)
        input_fn, steps, hooks = self._eval
        results, seen = None, None
        while goes_on(results) and not self._is_done(results):
            start = time.time()
            path = tf.train.latest_checkpoint(self._estimator.model_dir)
            if path and not (evaluate_checkpoint_only_once and path == seen):
                results, seen = self._estimator.evaluate(input_fn, steps, hooks, path, name), path
            time.sleep(max(0.0, throttle - (time.time() - start)))

    def _is_done(self, results: Any) -> bool:
        last = self._train[1]
        return bool(results) and last is not None and results["global_step"] >= last

    def _export(self, exporter: Any, results: Any) -> Any:
        directory = os.path.join(self._estimator.model_dir, "export", exporter.name)
        path = tf.train.latest_checkpoint(self._estimator.model_dir)
        return exporter.export(self._estimator, directory, path, results, True)

    def run_std_server(self) -> None:
        """Serves as a parameter server, until the others have ended."""
        self._estimator.train(self._train[0])


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Makes an experiment and runs it.

    Args:
      experiment_fn: Function of run_config and hparams, or of output_dir.
      output_dir: The directory, for functions of it.
      schedule: The method to call; `train_and_evaluate` by default.
      run_config: The configuration.
      hparams: The hyper-parameters.

    Raises:
      ValueError: Neither or both of output_dir and run_config are given, these or hparams are not
        what they should be, or there is no such schedule.
      TypeError: experiment_fn is no function, or returns no Experiment.
    """
    if (output_dir is None) == (run_config is None):
        raise ValueError("Exactly one of `output_dir` and `run_config` must be given.")
    if run_config is None:
        if not output_dir or hparams is not None:
            raise ValueError(
                "`output_dir` must name a directory, and `hparams` goes with a config."
            )
    elif not isinstance(run_config, RunConfig) or not run_config.model_dir:
        raise ValueError("`run_config` must be a tf.contrib.learn.RunConfig with a `model_dir`.")
    elif hparams is not None and not isinstance(hparams, HParams):
        raise ValueError("`hparams` must be `HParams` instance.")
    if not callable(experiment_fn):
        raise TypeError(f"Experiment builder '{experiment_fn}' is not callable.")
    given = (output_dir,) if run_config is None else (run_config, hparams)
    experiment = experiment_fn(*given)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder returned no Experiment: {experiment}")
    method = getattr(experiment, schedule or "train_and_evaluate", None)
    if not callable(method) or (schedule or "").startswith("_"):
        raise ValueError(f"Schedule '{schedule}' is none of an Experiment's.")
    return method()


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: Any = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool = False,
) -> Any:
    """An exporter of the last model."""
    del default_output_alternative_key, strip_default_attrs, exports_to_keep
    return est.FinalExporter("Servo", serving_input_fn, assets_extra, as_text)
