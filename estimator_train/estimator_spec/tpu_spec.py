"""TPUEstimatorSpec, the result of a TPUEstimator's model_fn."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.engine.types import Predictions, RunArgs, RunContext, TensorStructure
from estimator_train.estimator_spec import EstimatorSpec

# The collection to which TensorFlow adds the initializer of each summary writer of a graph.
_WRITER_INITIALIZERS = "_SUMMARY_WRITER_V2"


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Callable[[], Any] | None
    host_call: Any
    training_hooks: tuple[Any, ...]
    evaluation_hooks: tuple[Any, ...]
    prediction_hooks: tuple[Any, ...]


class TPUEstimatorSpec(_Fields):
    """EstimatorSpec whose metrics and scaffold are functions, called outside the TPU.

    Arguments that are not listed are those of `EstimatorSpec`.

    Args:
      eval_metrics: (metric_fn, tensors): metric_fn is called with the tensors, a list or a dict by
        the names of its arguments, and returns eval_metric_ops of an `EstimatorSpec`.
      scaffold_fn: Function without arguments that returns a `Scaffold`.
      host_call: (function, tensors): the function is called with the tensors, each of a batch or
        of one step, and returns operations that run during training, such as summaries.

    Raises:
      ValueError, TypeError: eval_metrics or host_call is not such a pair, or an argument of
        `EstimatorSpec` is wrong.
      RuntimeError: There are more or fewer tensors than their function takes.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Predictions | None = None,
        loss: tf.Tensor | None = None,
        train_op: tf.Operation | tf.Tensor | None = None,
        eval_metrics: tuple[Callable[..., Any], Any] | None = None,
        export_outputs: dict[str, Any] | None = None,
        scaffold_fn: Callable[[], Any] | None = None,
        host_call: tuple[Callable[..., Any], Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> "TPUEstimatorSpec":
        """Checks the arguments, which the class describes."""
        _check_call("eval_metrics", eval_metrics)
        _check_call("host_call", host_call)
        checked = EstimatorSpec(
            mode,
            predictions,
            loss,
            train_op,
            export_outputs=export_outputs,
            training_hooks=training_hooks,
            evaluation_hooks=evaluation_hooks,
            prediction_hooks=prediction_hooks,
        )
        return super().__new__(
            cls,
            mode,
            checked.predictions,
            checked.loss,
            checked.train_op,
            eval_metrics,
            checked.export_outputs,
            scaffold_fn,
            host_call,
            checked.training_hooks,
            checked.evaluation_hooks,
            checked.prediction_hooks,
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """Returns the EstimatorSpec for CPU and GPU; a hook runs the host call."""
        metrics = _call(self.eval_metrics) if self.eval_metrics is not None else None
        hooks = [_HostCallHook(_call(self.host_call))] if self.host_call is not None else []
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=[*self.training_hooks, *hooks],
            evaluation_hooks=[*self.evaluation_hooks, *hooks],
            prediction_hooks=[*self.prediction_hooks, *hooks],
        )


class _HostCallHook(tf.compat.v1.train.SessionRunHook):
    """Hook that runs the operations of a host call with every step that hooks see.

    It also creates the summary writers of the graph in each session, and flushes them at the end.

    Args:
      operations: Result of the host call's function.
    """

    def __init__(self, operations: TensorStructure) -> None:
        self._operations = operations

    def begin(self) -> None:
        self._create_writers = tf.compat.v1.get_collection(_WRITER_INITIALIZERS)
        self._flush_writers = [
            tf.raw_ops.FlushSummaryWriter(writer=operation.inputs[0])
            for operation in self._create_writers
        ]

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        session.run(self._create_writers)

    def before_run(self, run_context: RunContext) -> RunArgs:
        return RunArgs(self._operations)

    def end(self, session: tf.compat.v1.Session) -> None:
        session.run(self._flush_writers)


def _call(call: tuple[Callable[..., Any], Any]) -> Any:
    function, tensors = call
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


def _check_call(name: str, call: Any) -> None:
    if call is None:
        return
    if not isinstance(call, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements, a function and tensors; got {call}.")
    function, tensors = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    takes_any = inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.VAR_KEYWORD in kinds
    if isinstance(tensors, dict) or takes_any:
        return
    # A keyword that a partial holds is keyword-only too.
    count = sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in kinds)
    if len(tensors) != count:
        raise RuntimeError(
            f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method "
            f"args of the function, which takes {count}."
        )
