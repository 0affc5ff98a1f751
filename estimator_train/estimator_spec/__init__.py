"""EstimatorSpec, the result of a model_fn, and the modes in which it is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

import tensorflow as tf

from estimator_train.engine.types import Predictions
from estimator_train.estimator_spec.export_outputs import (
    ExportOutput,
    PredictOutput,
    add_local_variables,
    is_keras_metric,
    split_metric,
)

TrainOp: TypeAlias = tf.Operation | tf.Tensor
Hooks: TypeAlias = Iterable[tf.compat.v1.train.SessionRunHook] | None
_DEFAULT_SIGNATURE = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_Value = TypeVar("_Value")


class ModeKeys:
    """Modes in which a model_fn is called: TRAIN, EVAL, PREDICT."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _Fields(NamedTuple):
    mode: str | None
    predictions: Any
    loss: tf.Tensor | None
    train_op: TrainOp | None
    eval_metric_ops: dict[str, tuple[Any, Any]]
    export_outputs: dict[str, ExportOutput] | None
    training_chief_hooks: tuple[tf.compat.v1.train.SessionRunHook, ...]
    training_hooks: tuple[tf.compat.v1.train.SessionRunHook, ...]
    scaffold: tf.compat.v1.train.Scaffold
    evaluation_hooks: tuple[tf.compat.v1.train.SessionRunHook, ...]
    prediction_hooks: tuple[tf.compat.v1.train.SessionRunHook, ...]


class EstimatorSpec(_Fields):
    """Operations and objects that a model_fn returns, checked when it is created.

    A mode needs: TRAIN loss and train_op; EVAL loss; PREDICT predictions. What another mode
    needs may be given too, so that one model_fn can return the same spec in every mode.

    Args:
      mode: a `ModeKeys` value.
      predictions: tensor or dict of tensors.
      loss: tensor with one element; any shape of one element becomes a scalar.
      train_op: operation or tensor that runs one training step.
      eval_metric_ops: dict of metric name to a (value, update_op) tuple or to a Keras
        metric that was updated in this graph. Metrics are kept as such tuples.
      export_outputs: dict of signature name to `ExportOutput`, or to another object that has
        its method `as_signature_def`, used in PREDICT. One entry alone is also the default
        signature; several must name the default one. Without it, the predictions become
        the default signature.
      training_chief_hooks: SessionRunHooks for the chief worker in training.
      training_hooks: SessionRunHooks for all workers in training.
      scaffold: `tf.compat.v1.train.Scaffold` with initialization, saver and more; a plain
        one by default.
      evaluation_hooks: SessionRunHooks for evaluation.
      prediction_hooks: SessionRunHooks for prediction.

    Raises:
      ValueError: something the mode needs is missing, the loss is not a scalar, an object is
        of another graph than the default one, a Keras metric was never updated, or
        several export_outputs name no default.
      TypeError: an argument is of a wrong type.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str | None,
        predictions: Predictions | None = None,
        loss: tf.Tensor | None = None,
        train_op: TrainOp | None = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: dict[str, ExportOutput] | None = None,
        training_chief_hooks: Hooks = None,
        training_hooks: Hooks = None,
        scaffold: tf.compat.v1.train.Scaffold | None = None,
        evaluation_hooks: Hooks = None,
        prediction_hooks: Hooks = None,
    ) -> EstimatorSpec:
        """Checks the arguments, which the class describes."""
        train_op = _validate_train_op(train_op, mode)
        loss = _validate_loss(loss, mode)
        predictions = _validate_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = _add_default_signature(export_outputs, predictions)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            export_outputs=export_outputs,
            training_chief_hooks=_validate_hooks(training_chief_hooks),
            training_hooks=_validate_hooks(training_hooks),
            evaluation_hooks=_validate_hooks(evaluation_hooks),
            prediction_hooks=_validate_hooks(prediction_hooks),
            eval_metric_ops=_validate_metrics(eval_metric_ops),
            scaffold=_validate_scaffold(scaffold),
        )

    def _replace(self, /, **changes: Any) -> EstimatorSpec:
        """Returns a new spec with some fields changed, after all checks.

        Raises:
          ValueError: `mode` would change, or a field is unknown.
        """
        if changes.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        unknown = sorted(set(changes) - set(self._fields))
        if unknown:
            raise ValueError(f"Got unexpected field names: {unknown}. Known: {self._fields}")
        return type(self)(**{**self._asdict(), **changes})


def _validate_train_op(train_op: TrainOp | tf.Variable | None, mode: str | None) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not isinstance(train_op, (tf.Operation, tf.Tensor, tf.Variable)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if isinstance(train_op, tf.Variable):
        train_op = train_op.op
    _check_graph({"": train_op}, "train_op")
    return train_op


def _validate_loss(loss: tf.Tensor | None, mode: str | None) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    _check_tensor(loss, "loss")
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not loss.shape.is_compatible_with([]):
        loss = tf.reshape(loss, [])
    _check_graph({"": loss}, "loss")
    return loss


def _validate_predictions(predictions: Predictions | None, mode: str | None) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if isinstance(predictions, dict):
        for key, value in predictions.items():
            _check_tensor(value, f"predictions[{key}]")
        _check_graph(predictions, "prediction values")
    else:
        _check_tensor(predictions, "predictions")
        _check_graph({"": predictions}, "prediction values")
    return predictions


def _validate_metrics(metrics: Mapping[str, Any] | None) -> dict[str, tuple[Any, Any]]:
    """Returns (value, update_op) tuples; makes variables of Keras metrics local ones."""
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    pairs = {}
    for key, metric in metrics.items():
        if isinstance(metric, tuple) and len(metric) == 2:
            pairs[key] = metric
            continue
        if not is_keras_metric(metric):
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, "
                f"given: {metric} for key: {key}"
            )
        add_local_variables(metric)
        pairs[key] = split_metric(metric)
    for key, pair in pairs.items():
        for part in tf.nest.flatten(pair):
            if not isinstance(part, (tf.Tensor, tf.Operation, tf.Variable)):
                raise TypeError(
                    "Values of eval_metric_ops must be (metric_value, update_op) tuples "
                    f"of Tensors or Operations, given: {part} for key: {key}"
                )
            _check_graph({key: part}, "eval_metric_ops")
    return pairs


def _add_default_signature(
    outputs: dict[str, ExportOutput] | None, predictions: Predictions | None
) -> dict[str, ExportOutput]:
    """Returns the export outputs of PREDICT mode, with a default signature."""
    if outputs is None:
        return {_DEFAULT_SIGNATURE: PredictOutput(predictions)}
    if not isinstance(outputs, dict):
        raise TypeError(f"`export_outputs` must be dict, received: {outputs}.")
    if not all(hasattr(output, "as_signature_def") for output in outputs.values()):
        raise TypeError(
            f"Values in `export_outputs` must be ExportOutput objects, received: {outputs}."
        )
    if len(outputs) == 1:
        return {**outputs, _DEFAULT_SIGNATURE: next(iter(outputs.values()))}
    if outputs and _DEFAULT_SIGNATURE not in outputs:
        raise ValueError(
            "Multiple `export_outputs` were provided, but none of them are specified as the "
            "default. Use`tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY` to specify a "
            "default."
        )
    return outputs


def _validate_hooks(hooks: Hooks) -> tuple[tf.compat.v1.train.SessionRunHook, ...]:
    message = "All hooks must be SessionRunHook instances, given: {}"
    return check_instances(hooks, tf.compat.v1.train.SessionRunHook, message)


def check_call(hooks: Hooks, **counts: int | None) -> list[tf.compat.v1.train.SessionRunHook]:
    """Checks the arguments that train, evaluate and predict share.

    Args:
      hooks: Hooks of the caller.
      **counts: Numbers of steps by their names; None for an argument that is not given.

    Returns:
      The hooks as a new list.

    Raises:
      ValueError: A number is not positive.
      TypeError: A hook is not a SessionRunHook.
    """
    check_positive(**counts)
    message = "Hooks must be a SessionRunHook, given: {}"
    return list(check_instances(hooks, tf.compat.v1.train.SessionRunHook, message))


def check_positive(**numbers: float | None) -> None:
    """Checks arguments by their names; None passes.

    Raises:
      ValueError: A number is not positive.
    """
    for name, value in numbers.items():
        if value is not None and value <= 0:
            raise ValueError(f"Must specify {name} > 0, given: {value}")


def check_instances(
    values: Iterable[_Value] | None, kind: type[_Value], message: str
) -> tuple[_Value, ...]:
    """Checks the class of objects; returns them as a tuple.

    Args:
      values: The objects; None for no objects.
      kind: Their class.
      message: Text of the error, with {} for the object.

    Raises:
      TypeError: An object is not an instance of the class.
    """
    found = tuple(values or ())
    for value in found:
        if not isinstance(value, kind):
            raise TypeError(message.format(value))
    return found


def _validate_scaffold(scaffold: tf.compat.v1.train.Scaffold | None) -> tf.compat.v1.train.Scaffold:
    if scaffold is None:
        return tf.compat.v1.train.Scaffold()
    if not isinstance(scaffold, tf.compat.v1.train.Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold


def _check_tensor(value: object, name: str) -> None:
    if not isinstance(value, (tf.Tensor, tf.Variable)):
        raise TypeError(f"{name} must be Tensor, given: {value}")


def _check_graph(values: Mapping[Any, Any], subject: str) -> None:
    """Raises ValueError where a value is not of the default graph."""
    if tf.executing_eagerly():
        return  # eager tensors belong to no graph
    for key, value in values.items():
        if value.graph is not tf.compat.v1.get_default_graph():
            name = f"{key}: {value.name}" if key else value.name
            raise ValueError(
                f'{subject} with "{name}" must be from the default graph. Possible causes of '
                f"this error include: \n\n1) {subject} was created outside the context of the "
                "default graph.\n\n2) The object passed through to EstimatorSpec was not "
                'created in the most recent call to "model_fn".'
            )
