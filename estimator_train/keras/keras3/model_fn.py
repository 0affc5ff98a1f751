"""A Keras 3 model in training, as callbacks observe it."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import keras
import tensorflow as tf

from estimator_train.engine.keras_3_errors import allow_keras_3
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.keras.build_settings import divide_by_replicas
from estimator_train.keras.keras3 import steps
from estimator_train.keras.keras3.blueprint import (
    Keras3Blueprint,
    check_model,
    explain_graph_errors,
    is_layered,
    list_model_variables,
)
from estimator_train.keras.keras3.keras_internals import list_all_layers
from estimator_train.keras.keras3.steps import Data, Keras3GraphModel, Logs, build_model
from estimator_train.keras.model_io import (
    Names,
    Structure,
    as_tensors,
    check_export_outputs,
    make_export_outputs,
    split_features,
)
from estimator_train.keras.observation import (
    build_on_zeros,
    is_observation_requested,
    make_tensor_specs,
    publish,
)
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
_SCALARS = ("learning_rate", "iteration")
_Pairs = list[tuple[tf.Variable, keras.Variable]]
_STEPS = {
    ModeKeys.TRAIN: "train_step",
    ModeKeys.EVAL: "test_step",
    ModeKeys.PREDICT: "predict_step",
}


@dataclasses.dataclass(frozen=True)
class ObservedKeras3:
    """A Keras 3 model that is trained in a graph.

    Attributes:
      blueprint: Makes the model.
      model: The model in the graph.
      features: TensorSpecs of the model's features, in their structure.
    """

    blueprint: Keras3Blueprint
    model: keras.Model
    features: Structure

    def make_eager(self) -> keras.Model:
        """Builds a compiled eager copy with its own variables; call it in eager code."""
        model = self.blueprint.make()
        build_on_zeros(model, self.features)
        if model.optimizer is not None:
            model.optimizer.build(model.trainable_variables)
        return model

    def pair_weights(self, model: keras.Model) -> _Pairs:
        """Pairs the graph's weights and slots with those of an eager copy."""
        ours, theirs = list_model_variables(self.model), list_model_variables(model)
        pairs = [(v.value, other) for v, other in zip(ours, theirs, strict=True)]
        return pairs + self._pair_optimizers(model, scalars=False)

    def pair_scalars(self, model: keras.Model) -> _Pairs:
        """Pairs the optimizer's learning rate and count of updates with those of an eager copy."""
        return self._pair_optimizers(model, scalars=True)

    def list_parts(self, model: keras.Model) -> list[Any]:
        """Returns the layers and weights of an eager copy, and its optimizer."""
        return [*list_all_layers(model), *model.weights, model.optimizer]

    def _pair_optimizers(self, model: keras.Model, *, scalars: bool) -> _Pairs:
        if self.model.optimizer is None:
            return []
        both = zip(self.model.optimizer.variables, model.optimizer.variables, strict=True)
        return [(v.value, other) for v, other in both if (v.name in _SCALARS) == scalars]


def observe(observed: ObservedKeras3, logs: Logs) -> None:
    """Publishes a training to hooks.

    Args:
      observed: The model.
      logs: The logs of a step, with a value per replica under a strategy; its metrics continue
        from step to step.
    """
    model = observed.model
    results = steps.list_results(model)
    step_logs = None
    if not tf.distribute.has_strategy():
        with tf.control_dependencies(list(logs.values())):
            own = {name: value for name, value in logs.items() if name not in results}
            step_logs = {**steps.list_results(model), **own}
    publish(observed, results, step_logs, [v.value for v in model.metrics_variables])


def _warn_of_unused_averages(model: keras.Model) -> None:
    """Warns that an Estimator does not end like `fit`, which then uses the averages of weights."""
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    if getattr(optimizer, "use_ema", False):
        _LOG.warning(
            "%s(use_ema=True): an Estimator evaluates and exports the weights themselves. At the "
            "end of fit(), Keras replaces them by the averages; checkpoints have these under the "
            "names that end in /average.",
            type(optimizer).__name__,
        )


class Keras3ModelFn:
    """A model_fn that runs a Keras 3 model's own `train_step`, `test_step` and `predict_step`.

    Args:
      model: A compiled Keras 3 model. It is read now and never changed.
      custom_objects: Names to classes and functions that the model's config needs, or None.
      build: Function that built the model, or None.
      metric_names_map: Keras's names of all metrics to the names to report, or None.
      export_outputs: Output names to classes of ExportOutput, or functions that return one; or
        None.

    Raises:
      ValueError: The model is not compiled, or cannot be made again in a graph.
      TypeError: export_outputs is not a dict of such classes or functions.
    """

    def __init__(
        self,
        model: keras.Model,
        custom_objects: Mapping[str, Any] | None,
        build: Callable[[], keras.Model] | None = None,
        *,
        metric_names_map: Mapping[str, str] | None = None,
        export_outputs: Mapping[str, type] | None = None,
    ) -> None:
        check_model(model)
        _warn_of_unused_averages(model)
        self._blueprint = Keras3Blueprint(model, custom_objects, build)
        self._metric_names = dict(metric_names_map or {})
        self._export_outputs = check_export_outputs(export_outputs)

    @tf.autograph.experimental.do_not_convert
    def __call__(
        self, features: Structure, labels: Structure, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        """Builds the model in the default graph.

        Args:
          features: What the model takes as x; or a dict of `features` and `sample_weights`.
          labels: What `fit` takes as y, or None.
          mode: A ModeKeys value.
          config: Not used.
        """
        allow_keras_3()
        x, weights = split_features(as_tensors(features))
        x = _pick_inputs(self._blueprint.model, x, mode)
        y = as_tensors(labels)
        # As `fit` gives them to train_step: without those that are None at the end.
        data = (x, y, weights) if weights is not None else (x, y) if y is not None else (x,)
        with explain_graph_errors(self._blueprint.model, y is not None or mode == ModeKeys.PREDICT):
            if mode == ModeKeys.TRAIN:
                return self._train(data)
            if mode == ModeKeys.EVAL:
                return self._evaluate(data)
            return self._predict(x)

    def _train(self, data: Data) -> EstimatorSpec:
        def build(data: Data) -> tuple[tuple[Keras3GraphModel, tf.Operation], Logs]:
            def make_variables(model: keras.Model) -> None:
                # The gradients take time to build, and make no variables in Keras's own step.
                own = type(model).train_step is not keras.Model.train_step
                steps.make_variables(model, model.train_step if own else model.test_step, data)

            built = build_model(self._blueprint, make_variables, is_trained=True)
            is_observed = is_observation_requested()
            logs = steps.train_step(built.model, data, keeps_metrics=is_observed)
            if is_observed:
                specs = make_tensor_specs(steps.take_first_replica(data[0]))
                observe(ObservedKeras3(self._blueprint, built.model, specs), logs)
            with tf.control_dependencies(tf.nest.flatten(logs, expand_composites=True)):
                count = tf.compat.v1.train.get_or_create_global_step().assign_add(1)
            return (built, tf.group(count)), logs

        result, logs = steps.run_once_for_all_replicas(build, data)
        built, train_op = result or (None, tf.no_op())
        if built is not None:
            self._add_summaries(logs)
        return EstimatorSpec(
            ModeKeys.TRAIN,
            loss=divide_by_replicas(steps.find_loss(logs)),
            train_op=train_op,
            scaffold=_make_scaffold(built),
        )

    def _evaluate(self, data: Data) -> EstimatorSpec:
        def build(data: Data) -> tuple[tuple[Keras3GraphModel, steps.Metrics], Logs]:
            built = build_model(
                self._blueprint,
                lambda model: steps.make_variables(model, model.test_step, data),
                is_trained=False,
            )
            logs = steps.test_step(built.model, data)
            return (built, steps.list_metric_results(built.model, logs)), logs

        result, logs = steps.run_once_for_all_replicas(build, data)
        built, metrics = result or (None, {name: (value, value) for name, value in logs.items()})
        metrics.pop(steps.LOSS, None)
        metrics = {self._metric_names.get(name, name): pair for name, pair in metrics.items()}
        return EstimatorSpec(
            ModeKeys.EVAL,
            loss=steps.find_loss(logs),
            eval_metric_ops=metrics,
            scaffold=_make_scaffold(built),
        )

    def _predict(self, x: Structure) -> EstimatorSpec:
        built = build_model(
            self._blueprint,
            lambda model: steps.make_variables(model, model.predict_step, (x,)),
            is_trained=False,
        )
        names, outputs = _name_outputs(built.model, steps.predict_step(built.model, x))
        return EstimatorSpec(
            ModeKeys.PREDICT,
            predictions=outputs,
            export_outputs=make_export_outputs(self._export_outputs, names, outputs),
            scaffold=_make_scaffold(built),
        )

    def _add_summaries(self, logs: Logs) -> None:
        for name, value in logs.items():
            if name != steps.LOSS and value.shape.rank == 0:
                tf.compat.v1.summary.scalar(self._metric_names.get(name, name), value)


def _pick_inputs(model: keras.Model, x: Structure, mode: str) -> Structure:
    """Returns the features that a model of named inputs declares.

    Keras takes the values of a dict in the order of its keys, so that one key more or less would
    give an input the values of another feature. A step of the user's own may read other features.

    Args:
      model: The user's model.
      x: The features.
      mode: A ModeKeys value.

    Raises:
      FormattedKeyError: An input of the model is missing in a dict of features.
    """
    step = _STEPS[mode]
    is_own_step = getattr(type(model), step) is not getattr(keras.Model, step)
    is_functional = is_layered(model) and not isinstance(model, keras.Sequential)
    declared = model.input if is_functional else None
    if is_own_step or not isinstance(x, Mapping) or not isinstance(declared, Mapping):
        return x
    if not all(isinstance(tensor, keras.KerasTensor) for tensor in declared.values()):
        return x
    aliases = {tensor.name: key for key, tensor in declared.items() if key not in x}
    names = Names(tuple(declared), aliases)
    return names.pick(x, "features", "inputs", names.names)


def _name_outputs(model: keras.Model, predicted: Structure) -> tuple[Names, dict[str, tf.Tensor]]:
    """Names the outputs of a model by their keys, by the model's output names, or by numbers.

    Args:
      model: The model.
      predicted: What its `predict_step` returned: a tensor, or a list, tuple or dict of tensors.

    Returns:
      The names, and the tensors by name.
    """
    if isinstance(predicted, dict) and all(map(tf.is_tensor, predicted.values())):
        return Names(tuple(predicted)), dict(predicted)
    tensors = tf.nest.flatten(predicted)
    last = [model.layers[-1].name] if isinstance(model, keras.Sequential) else []
    names = list(getattr(model, "output_names", last))
    if len(set(names)) != len(tensors):
        names = [f"output_{number}" for number in range(1, len(tensors) + 1)]
    return Names(tuple(names)), dict(zip(names, tensors, strict=True))


def _make_scaffold(built: Keras3GraphModel | None) -> tf.compat.v1.train.Scaffold:
    feeds = built.feeds if built is not None else {}
    return tf.compat.v1.train.Scaffold(init_feed_dict=feeds or None)
