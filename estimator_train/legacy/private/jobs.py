"""Private names of tf.estimator's modules of jobs, exports and TPUs."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

import estimator_train as est
from estimator_train.export.receivers import (
    SupervisedInputReceiver as _SupervisedInputReceiver,
    build_raw_supervised_input_receiver_fn,
)
from estimator_train.tpu import TPUEstimatorSpec

SupervisedInputReceiver = _SupervisedInputReceiver
_TPUEstimatorSpec = TPUEstimatorSpec
_DELAY_SECS_PER_WORKER = 5


class TaskType:
    """Types of the tasks of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


class UnsupervisedInputReceiver(NamedTuple):
    """Features, and the tensors of a request, of a model without labels."""

    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any = None


class _EvalResult(NamedTuple):
    status: str
    metrics: Any = None
    checkpoint_path: str | None = None


class _ContinuousEvalListener:
    """Listener of evaluations; each method returns whether evaluations continue."""

    def before_eval(self) -> bool:
        return True

    def after_eval(self, eval_result: _EvalResult) -> bool:
        del eval_result
        return True


class _EvaluationsStopped(Exception):
    """Raised when a listener stops the evaluations of an evaluator."""


class _TrainingExecutor:
    """Object that trains and evaluates an estimator, as `train_and_evaluate` does.

    The listener's answers stop an evaluator; in a local training they have no effect.
    """

    def __init__(
        self,
        estimator: Any,
        train_spec: est.TrainSpec,
        eval_spec: est.EvalSpec,
        train_hooks: Sequence[Any] | None = None,
        continuous_eval_listener: _ContinuousEvalListener | None = None,
    ) -> None:
        self._estimator, self._eval_spec = estimator, eval_spec
        self._listener = continuous_eval_listener
        self._train_spec = train_spec._replace(hooks=(*train_spec.hooks, *(train_hooks or ())))

    @property
    def estimator(self) -> Any:
        return self._estimator

    def run(self) -> Any:
        if self._listener is None:
            return est.train_and_evaluate(self._estimator, self._train_spec, self._eval_spec)
        members = vars(self._estimator)
        own = {"evaluate": members["evaluate"]} if "evaluate" in members else {}
        self._estimator.evaluate = self._listen(self._estimator.evaluate)
        try:
            return est.train_and_evaluate(self._estimator, self._train_spec, self._eval_spec)
        except _EvaluationsStopped:
            return None
        finally:
            del members["evaluate"]
            members.update(own)

    def _listen(self, evaluate: Callable[..., Any]) -> Callable[..., Any]:
        """Returns an `evaluate` that calls the listener before and after."""
        listener, stops = self._listener, self._estimator.config.task_type == TaskType.EVALUATOR
        assert listener is not None

        @functools.wraps(evaluate)
        def evaluate_and_notify(*arguments: Any, **named: Any) -> Any:
            if not listener.before_eval() and stops:
                raise _EvaluationsStopped
            metrics = evaluate(*arguments, **named)
            path = named.get("checkpoint_path") or self._estimator.latest_checkpoint()
            if not listener.after_eval(_EvalResult("evaluated", metrics, path)) and stops:
                raise _EvaluationsStopped
            return metrics

        return evaluate_and_notify

    run_local = run_chief = run_master = run_worker = run_ps = run_evaluator = run


def _assert_eval_spec(eval_spec: Any) -> None:
    if not isinstance(eval_spec, est.EvalSpec):
        raise TypeError(
            f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}"
        )


class _Gauge:
    """Counter of the estimators of a process, which keeps nothing."""

    def get_cell(self, *labels: str) -> "_Gauge":
        del labels
        return self

    def set(self, value: Any) -> None:
        del value


_canned_estimator_api_gauge = _estimator_api_gauge = _Gauge()


def maybe_overwrite_model_dir_and_session_config(
    config: est.RunConfig | None, model_dir: str | None
) -> est.RunConfig:
    """Returns a config with a model_dir.

    Raises:
      ValueError: The config is no RunConfig, or has another model_dir.
    """
    if config is None:
        config = est.RunConfig()
    if not isinstance(config, est.RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if model_dir is not None and config.model_dir not in (None, model_dir):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' "
        )
    return config.replace(model_dir=model_dir) if model_dir is not None else config


def _verify_model_fn_args(model_fn: Callable[..., Any], params: Any) -> None:
    arguments = set(inspect.signature(model_fn).parameters)
    if "features" not in arguments:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in arguments:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], Any]:
    """Returns an input_receiver_fn whose features and labels are like those of an input_fn."""
    with tf.Graph().as_default():
        result = input_fn(**input_fn_args)
        if isinstance(result, tf.data.Dataset):
            result = tf.compat.v1.data.make_initializable_iterator(result).get_next()
        features, labels = result
    return build_raw_supervised_input_receiver_fn(features, labels)


def check_positive_integer(value: Any, name: str) -> None:
    """Raises an error if a value is no positive integer."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value).__name__}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
