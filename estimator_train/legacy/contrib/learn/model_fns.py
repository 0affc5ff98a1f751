"""What model_fns and metrics of `tf.contrib.learn` are made of."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import estimator_train.compat.v1 as v1
from estimator_train.engine.user_functions import argument_names
from estimator_train.legacy.contrib.learn.keys import ModeKeys

_LABELS = ("label", "labels", "target", "targets")
_PREDICTIONS = ("prediction", "predictions")
_WEIGHTS = ("weight", "weights")


class _Fields(NamedTuple):
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    output_alternatives: Any
    training_chief_hooks: Sequence[Any]
    training_hooks: Sequence[Any]
    scaffold: Any
    mode: str


class ModelFnOps(_Fields):
    """What a model_fn may return; the other arguments are those of `EstimatorSpec`.

    Args:
      mode: One of `ModeKeys`.
      output_alternatives: Pairs of ProblemType and tensors, by the names of signatures.

    Raises:
      ValueError: What the mode needs is missing.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        scaffold: Any = None,
    ) -> "ModelFnOps":
        """Checks the arguments, which the class describes."""
        if loss is None and mode != ModeKeys.INFER:
            raise ValueError("Missing loss.")
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if predictions is None and mode == ModeKeys.INFER:
            raise ValueError("Missing predictions.")
        return super().__new__(
            cls,
            predictions,
            loss,
            train_op,
            eval_metric_ops or {},
            output_alternatives,
            training_chief_hooks or [],
            training_hooks or [],
            scaffold,
            mode,
        )

    def as_estimator_spec(self) -> Any:
        """The EstimatorSpec of the same."""
        outputs: dict[str, Any] = {
            key: v1.export.PredictOutput(output)
            for key, (_, output) in (self.output_alternatives or {}).items()
        }
        return v1.EstimatorSpec(
            self.mode,
            self.predictions,
            self.loss,
            self.train_op,
            self.eval_metric_ops,
            outputs or None,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


class MetricSpec:
    """A metric of an evaluation.

    Args:
      metric_fn: Function of labels, predictions and maybe weights, by such names; of predictions
        where an argument has another name.
      prediction_key: Which of the predictions; None: the only one.
      label_key: Which of the labels; None: the only one.
      weight_key: The feature with the weights.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self.metric_fn = metric_fn
        self.prediction_key, self.label_key = prediction_key, label_key
        self.weight_key = weight_key

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The metric's value and its update.

        Args:
          inputs: The features.
          labels: A tensor, or a dict of them.
          predictions: The same.

        Raises:
          ValueError: There are several without a key, or one alone with a key.
          KeyError: There are none of the key.
        """
        chosen = _chosen("prediction", predictions, self.prediction_key)
        takes = argument_names(self.metric_fn)
        given = {name: chosen for name in takes if name in _PREDICTIONS}
        positional = [] if given else [chosen]
        if any(name in _LABELS for name in takes):
            label = _chosen("label", labels, self.label_key)
            given |= {name: label for name in takes if name in _LABELS}
        if self.weight_key:
            given |= {name: inputs[self.weight_key] for name in takes if name in _WEIGHTS}
        return self.metric_fn(*positional, **given)


def _chosen(what: str, given: Any, key: str | None) -> Any:
    if not isinstance(given, dict):
        if key is not None:
            raise ValueError(f"{what}_key '{key}' was given, and there is one {what} alone.")
        return given
    if key is None and len(given) != 1:
        raise ValueError(f"MetricSpec without {what}_key, where there are: {sorted(given)}")
    return given[next(iter(given)) if key is None else key]


def specification(returned: Any, mode: str) -> Any:
    """What a model_fn returned as an EstimatorSpec.

    Args:
      returned: An EstimatorSpec, ModelFnOps, or predictions, loss and train_op.
      mode: The mode that it was called in.
    """
    if isinstance(returned, v1.EstimatorSpec):
        return returned
    made = returned if isinstance(returned, ModelFnOps) else ModelFnOps(mode, *returned)
    return made.as_estimator_spec()
