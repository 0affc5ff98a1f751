"""`Experiment` and `learn_runner` of `tf.contrib.learn`: what `train_and_evaluate` was before."""

from collections.abc import Callable
from typing import Any

import estimator_train as est


class Experiment:
    """An estimator with its inputs: `train`, `evaluate`, `train_and_evaluate`.

    Args:
      estimator: The estimator.
      train_input_fn: Input of training.
      eval_input_fn: Input of evaluation.
      eval_metrics: Not supported: metrics belong to the model_fn.
      train_steps: The step to train to; None: the input ends it.
      eval_steps: Batches of an evaluation; None: all.
      train_monitors: Hooks of training.
      eval_hooks: Hooks of evaluation.
      eval_delay_secs: Seconds before the first evaluation.
      min_eval_frequency: Steps between evaluations.
      export_strategies: What `make_export_strategy` returned, or a list of such.
      **unused: What else there was, about when to evaluate.
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
        eval_delay_secs: int = 120,
        min_eval_frequency: int | None = None,
        export_strategies: Any = None,
        **unused: Any,
    ) -> None:
        if eval_metrics:
            raise ValueError(
                "Experiment(eval_metrics=...): return eval_metric_ops in model_fn's EstimatorSpec, "
                "or use tf.estimator.add_metrics."
            )
        self._estimator = estimator
        self._train = (train_input_fn, train_steps, list(train_monitors or ()))
        self._eval = (eval_input_fn, eval_steps, list(eval_hooks or ()))
        self._delay, self._frequency = eval_delay_secs, min_eval_frequency
        exporters = export_strategies or []
        self._exporters = exporters if isinstance(exporters, (list, tuple)) else [exporters]

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

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains; returns the estimator."""
        input_fn, steps, hooks = self._train
        return self._estimator.train(input_fn, hooks=hooks, max_steps=steps)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates the latest checkpoint; returns the metrics."""
        input_fn, steps, hooks = self._eval
        return self._estimator.evaluate(input_fn, steps=steps, hooks=hooks, name=name)

    def train_and_evaluate(self) -> Any:
        """Trains, evaluates and exports; returns the metrics and what was exported."""
        train_fn, steps, hooks = self._train
        eval_fn, eval_steps, eval_hooks = self._eval
        return est.train_and_evaluate(
            self._estimator,
            est.TrainSpec(train_fn, max_steps=steps, hooks=hooks),
            est.EvalSpec(
                eval_fn, eval_steps, hooks=eval_hooks, exporters=self._exporters,
                start_delay_secs=self._delay,
            ),
        )  # fmt: skip

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
      ValueError: Neither or both of output_dir and run_config are given, or there is no such
        schedule.
    """
    if (output_dir is None) == (run_config is None):
        raise ValueError("Exactly one of `output_dir` and `run_config` must be given.")
    given = (output_dir,) if run_config is None else (run_config, hparams)
    experiment = experiment_fn(*given)
    method = getattr(experiment, schedule or "train_and_evaluate", None)
    if not callable(method):
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
