"""Results of model_fns, and metrics, of `tf.contrib.learn`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.extension import list_argument_names
from tf_contrib._types import Features, Fetches
from tf_contrib.learn.keys import ModeKeys, ProblemType

# Start of the names of signatures.
_ALTERNATIVE = "default_input_alternative:"
_LABELS = ("label", "labels", "target", "targets")
_PREDICTIONS = ("prediction", "predictions")
_WEIGHTS = ("weight", "weights")


class _ModelSpec(v1.EstimatorSpec):
    """EstimatorSpec that keeps the output alternatives, for predictors."""

    output_alternatives: Any = None


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
    # Mean of the losses in proportion to their weights, which evaluations report.
    average_loss: Any = None


class ModelFnOps(_Fields):
    """Result of a model_fn; arguments that are not listed are those of `EstimatorSpec`.

    Args:
      mode: One of `ModeKeys`.
      output_alternatives: Pairs of ProblemType and tensors by signature name.

    Raises:
      ValueError: An argument that the mode requires is missing.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Features | None = None,
        loss: tf.Tensor | None = None,
        train_op: Fetches | None = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        output_alternatives: Mapping[str | None, tuple[int, Any]] | None = None,
        training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        scaffold: tf.compat.v1.train.Scaffold | None = None,
    ) -> "ModelFnOps":
        """Checks that the arguments suit the mode."""
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

    def as_estimator_spec(self, default_alternative: str | None = None) -> v1.EstimatorSpec:
        """Converts this object to an EstimatorSpec.

        Args:
          default_alternative: Key of the output alternative that is the default signature; by
            default the first one.
        """
        is_evaluation = self.mode == ModeKeys.EVAL and self.average_loss is not None
        metrics = dict(self.eval_metric_ops)
        if self.average_loss is not None:
            del metrics["loss"]
        spec = _ModelSpec(
            self.mode,
            self.predictions,
            self.average_loss if is_evaluation else self.loss,
            self.train_op,
            metrics,
            self._create_export_outputs(default_alternative),
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )
        spec.output_alternatives = self.output_alternatives
        return spec

    def _create_export_outputs(self, default_alternative: str | None) -> dict[str, Any] | None:
        alternatives = self.output_alternatives
        if not alternatives:
            return None
        outputs = {key: _create_export_output(*pair) for key, pair in alternatives.items()}
        default = outputs.get(default_alternative, next(iter(outputs.values())))
        named = {f"{_ALTERNATIVE}{key}": output for key, output in outputs.items()}
        return named | {tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY: default}


def _create_export_output(problem_type: int, outputs: Any) -> Any:
    """Returns the signature that TensorFlow 1 gave the outputs of a problem."""
    if problem_type == ProblemType.LINEAR_REGRESSION:
        (value,) = outputs.values() if isinstance(outputs, dict) else [outputs]
        return v1.export.RegressionOutput(value)
    scores = outputs.get("probabilities") if isinstance(outputs, dict) else None
    if problem_type == ProblemType.UNSPECIFIED or scores is None:
        return v1.export.PredictOutput(outputs)
    names = tf.constant([str(number) for number in range(scores.shape[-1])])
    classes = tf.tile(names[None, :], [tf.shape(scores)[0], 1])
    return v1.export.ClassificationOutput(scores, classes)


class MetricSpec:
    """Metric of an evaluation.

    Args:
      metric_fn: Function of labels, predictions and optionally weights; arguments are recognized by
        name, and an argument of another name gets the predictions.
      prediction_key: Key of the predictions; None: there is only one.
      label_key: Key of the labels; None: there is only one.
      weight_key: Name of the feature with the weights.
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

    def create_metric_ops(self, inputs: Features, labels: Features, predictions: Features) -> Any:
        """Returns the value and the update operation of the metric.

        Args:
          inputs: Features.
          labels: Tensor or dict of tensors.
          predictions: Tensor or dict of tensors.

        Raises:
          ValueError: A key is missing for a dict, or given for a tensor.
          KeyError: A dict lacks the key.
        """
        prediction = _select("prediction", predictions, self.prediction_key)
        accepted = list_argument_names(self.metric_fn)
        arguments = {name: prediction for name in accepted if name in _PREDICTIONS}
        positional = [] if arguments else [prediction]
        if any(name in _LABELS for name in accepted):
            label = _select("label", labels, self.label_key)
            arguments |= {name: label for name in accepted if name in _LABELS}
        if self.weight_key:
            arguments |= {name: inputs[self.weight_key] for name in accepted if name in _WEIGHTS}
        return self.metric_fn(*positional, **arguments)


def _select(role: str, given: Any, key: str | None) -> Any:
    if not isinstance(given, dict):
        if key is not None:
            raise ValueError(f"{role}_key must be None for a single {role}, got '{key}'.")
        return given
    if key is None and len(given) != 1:
        raise ValueError(f"MetricSpec needs {role}_key to choose from {sorted(given)}.")
    return given[next(iter(given)) if key is None else key]


def to_estimator_spec(
    returned: Any, mode: str, default_alternative: str | None = None
) -> v1.EstimatorSpec:
    """Converts the result of a model_fn to an EstimatorSpec.

    Args:
      returned: EstimatorSpec, ModelFnOps, or predictions, loss and train_op.
      mode: Mode of the call.
      default_alternative: See `ModelFnOps.as_estimator_spec`.
    """
    if isinstance(returned, v1.EstimatorSpec):
        return returned
    ops = returned if isinstance(returned, ModelFnOps) else ModelFnOps(mode, *returned)
    return ops.as_estimator_spec(default_alternative)
