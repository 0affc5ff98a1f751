"""The model_fn of a Keras model."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train import export
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys
from estimator_train.keras.callbacks.observation import observation_is_requested
from estimator_train.keras.callbacks.observed_model import (
    ObservedModel,
    eager_value,
    mean_loss,
    observed_spec,
    specs,
)
from estimator_train.keras.checkpoints.object_checkpoints import object_based_saver
from estimator_train.keras.compiled.compile_arguments import CompileArguments, compile_arguments
from estimator_train.keras.compiled.losses import CompiledLoss
from estimator_train.keras.compiled.metrics import (
    added_metrics,
    planned_metrics,
    renamed,
    updated_metrics,
)
from estimator_train.keras.graph.initial_weights import InitialValues
from estimator_train.keras.graph.io_names import check_covers
from estimator_train.keras.graph.layer_classes import kept_layer_classes
from estimator_train.keras.graph.model_io import as_tensors, labels_of, split_features, weights_of
from estimator_train.keras.graph.model_operations import variables_of
from estimator_train.keras.graph.rebuilding import Blueprint, GraphModel
from estimator_train.optimizers.base import GraphOptimizer, TrainStep
from estimator_train.optimizers.graph_optimizers import graph_optimizer
from estimator_train.optimizers.optimizer_pair import OptimizerPair
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
CHECKPOINT = "checkpoint"
SAVER = "saver"
_DEFAULT_SIGNATURE = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class KerasModelFn:
    """Builds a Keras model's graph for a mode: a model_fn for an Estimator.

    Args:
      blueprint: What rebuilds the model in a graph.
      compiled: What the model is trained and evaluated with.
      optimizer: The graph form of its optimizer.
      checkpoint_format: "checkpoint" for object-based checkpoints, "saver" for name-based ones.
      metric_names_map: Keras's names of all metrics to the names to report them under, or None.
      export_outputs: Output name to what makes an `ExportOutput` of it, such as a class of them,
        or None.

    Attributes:
      blueprint: What rebuilds the model in a graph.

    Raises:
      TypeError: export_outputs is not a dict of such classes or functions.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        compiled: CompileArguments,
        optimizer: GraphOptimizer | OptimizerPair,
        checkpoint_format: str | None = CHECKPOINT,
        metric_names_map: Mapping[str, str] | None = None,
        export_outputs: Mapping[str, type] | None = None,
    ) -> None:
        self.blueprint = blueprint
        self._compiled = compiled
        self._optimizer = optimizer
        self._object_based = checkpoint_format == CHECKPOINT
        self._metric_names_map = metric_names_map
        self._export_outputs = _checked_export_outputs(export_outputs)

    @classmethod
    def of_compiled(
        cls, model: Any, custom_objects: Mapping[str, Any] | None, **settings: Any
    ) -> "KerasModelFn":
        """The model_fn of a compiled model.

        Args:
          model: A compiled tf_keras Model. It is read now and never changed.
          custom_objects: Names to classes and functions that the model's config needs, or None.
          **settings: The remaining arguments of the class.

        Raises:
          ValueError: The model is not compiled, cannot be made again in a graph, or has an
            optimizer that cannot be used.
        """
        compiled = compile_arguments(model)
        _warn_of_own_steps(model)
        optimizer = _optimizer_of(model, compiled.optimizer)
        return cls(Blueprint(model, custom_objects), compiled, optimizer, **settings)

    @tf.autograph.experimental.do_not_convert
    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        """Builds the model in the default graph.

        Args:
          features: A tensor or NumPy array, or a list, tuple or dict of them, as the model takes
            them; or a dict of `features` and `sample_weights`.
          labels: The same by the model's outputs, or None.
          mode: A ModeKeys value.
          config: A RunConfig, for the number of checkpoints to keep.
        """
        features, sample_weights = split_features(as_tensors(features))
        labels = as_tensors(labels)
        observed = mode == ModeKeys.TRAIN and observation_is_requested()
        with kept_layer_classes():
            built, feeds = self._build(features, training=mode == ModeKeys.TRAIN)
            loss = train_op = optimizer = None
            metrics: dict[str, Any] = {}
            if mode != ModeKeys.PREDICT:
                with_metrics = mode == ModeKeys.EVAL or observed
                loss, metrics = self._loss_and_metrics(built, labels, sample_weights, with_metrics)
            if observed:
                metrics = {"loss": mean_loss(loss, built.outputs), **metrics}
            if mode == ModeKeys.TRAIN:
                loss, train_op, optimizer = self._training(built, loss)
            saver = self._saver(built, optimizer, config)
            # Metrics turn into operations in it, which takes classes for graphs as well.
            spec = EstimatorSpec(
                mode=mode,
                predictions=dict(built.outputs),
                loss=loss,
                train_op=train_op,
                eval_metric_ops=metrics,
                export_outputs=_exported(self._export_outputs, built),
                scaffold=tf.compat.v1.train.Scaffold(init_feed_dict=feeds or None, saver=saver),
            )
            if not observed:
                return spec
            model = self._observed(built, optimizer, specs(features))
            return observed_spec(spec, model, list(metrics.values()))

    def write_initial_weights(self, path: str, config: RunConfig, trained: Any = None) -> None:
        """Writes a checkpoint of the model as it was given, as training would write it at step 0.

        Args:
          path: The checkpoint's path prefix.
          config: The estimator's configuration.
          trained: The eager model, if the state of its optimizer and its count of steps are to be
            in the checkpoint too.

        Raises:
          ValueError: The model's inputs are not known.
        """
        with kept_layer_classes(), tf.Graph().as_default():
            global_step = tf.compat.v1.train.create_global_step()
            built, feeds = self._build(self.blueprint.placeholders(), training=False)
            optimizer = None
            trainable = built.model.trainable_weights
            if trainable:
                # Any loss of all variables makes the optimizer create its slots.
                loss = tf.add_n([tf.cast(tf.reduce_sum(v), tf.float32) for v in trainable])
                optimizer = self._step(built.model, loss).trackable
            saver = self._saver(built, optimizer, config)
            named = saver is None
            saver = saver or tf.compat.v1.train.Saver(save_relative_paths=True)
            model = self._observed(built, optimizer, None)
            state: list[Any] = []
            if trained:
                count = (global_step, trained.optimizer.iterations)
                state = [*model.pairs(trained), *model.scalars(trained), count]
            with tf.compat.v1.Session() as session:
                session.run(tf.compat.v1.global_variables_initializer(), feeds)
                for ours, theirs in state:
                    # Its initializer is an assignment that is in the graph already.
                    first = ours.initializer.inputs[1]
                    session.run(ours.initializer, {first: eager_value(theirs)})
                saver.save(session, path, write_meta_graph=named)

    def _build(self, features: Any, training: bool) -> tuple[GraphModel, dict[tf.Tensor, Any]]:
        """The model in the default graph, and a feed_dict to initialize it with its weights."""
        values = InitialValues()
        with values.recorded():
            built = self.blueprint.call(features, training)
        weights = self.blueprint.weights
        if not weights or not self.blueprint.fits(built.model):
            return built, {}
        return built, values.feeds(variables_of(built.model), weights)

    def _loss_and_metrics(
        self, built: GraphModel, labels: Any, sample_weights: Any, with_metrics: bool
    ) -> tuple[tf.Tensor, dict[str, Any]]:
        names, outputs = built.names, built.outputs
        losses = CompiledLoss(self._compiled, names)
        metrics = renamed(planned_metrics(self._compiled, names), self._metric_names_map)
        compared = {*losses.by_output, *(metric.output for metric in metrics)}
        wanted = [name for name in names.names if name in compared]
        labels = labels_of(labels, names, wanted, outputs)
        sample_weights = weights_of(sample_weights, names)
        loss = losses.total(outputs, labels, sample_weights, built.losses)
        if not with_metrics:
            return loss, {}
        updated = updated_metrics(metrics, losses.by_output, outputs, labels, sample_weights)
        return loss, {**added_metrics(built.model), **updated}

    def _training(self, built: GraphModel, loss: tf.Tensor) -> tuple[tf.Tensor, tf.Operation, Any]:
        """The loss to minimize, the operation of a training step, and the optimizer to save."""
        if not self._optimizer.scales_loss:
            loss = _one_replicas_share(loss)
        step = self._step(built.model, loss)
        return loss, tf.group(step.operation, *built.updates), step.trackable

    def _observed(self, built: GraphModel, optimizer: Any, features: Any) -> ObservedModel:
        return ObservedModel(
            self.blueprint, self._compiled, built.model, optimizer, _global_step(), features
        )

    def _step(self, model: Any, loss: tf.Tensor) -> TrainStep:
        if isinstance(self._optimizer, OptimizerPair):
            parts = (model.linear_model.trainable_weights, model.dnn_model.trainable_weights)
            return self._optimizer.minimize(loss, *parts, _global_step())
        return self._optimizer.minimize(loss, model.trainable_weights, _global_step())

    def _saver(self, built: GraphModel, optimizer: Any, config: RunConfig) -> Any:
        if not self._object_based:
            return None
        return object_based_saver(built.model, optimizer, _global_step(), config)


def _optimizer_of(model: Any, given: Any) -> GraphOptimizer | OptimizerPair:
    """The graph form of the optimizer that a model was compiled with, or of its two."""
    if isinstance(model, tf_keras.experimental.WideDeepModel) and isinstance(given, (list, tuple)):
        linear, deep = given
        return OptimizerPair(graph_optimizer(linear), graph_optimizer(deep))
    return graph_optimizer(given)


def _warn_of_own_steps(model: Any) -> None:
    """Warns that an Estimator ignores a model's own train_step, test_step and predict_step."""
    steps = ("train_step", "test_step", "predict_step")
    wide_and_deep = tf_keras.experimental.WideDeepModel
    known = [cls for cls in (wide_and_deep, tf_keras.Model) if isinstance(model, cls)]
    own = [name for name in steps if getattr(type(model), name) is not getattr(known[0], name)]
    if own:
        _LOG.warning(
            "%s has its own %s, which an Estimator does not call: it trains and evaluates with the "
            "loss, metrics and optimizer that compile() was given.",
            type(model).__name__,
            " and ".join(own),
        )


def _global_step() -> tf.Variable:
    return tf.compat.v1.train.get_or_create_global_step()


def _one_replicas_share(loss: tf.Tensor) -> tf.Tensor:
    """The loss divided by the number of replicas, so that their sum is that of the whole batch."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    return loss / replicas if replicas > 1 else loss


def _checked_export_outputs(given: Any) -> dict[str, type]:
    if not given:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"export_outputs must be a dict, got {given!r}.")
    for name, cls in given.items():
        if not callable(cls):
            raise TypeError(
                f"export_outputs['{name}'] must be a class such as "
                f"estimator_train.export.PredictOutput, got {cls!r}."
            )
    return dict(given)


def _exported(classes: Mapping[str, type], built: GraphModel) -> dict[str, Any]:
    """The export outputs: all outputs in the default signature, some in signatures of their own.

    Raises:
      FormattedKeyError: The model has no output of a given name.
    """
    chosen = built.names.resolved(classes)
    outputs = set(built.outputs)
    check_covers(outputs, set(chosen), outputs, "outputs", "export_outputs")
    return {
        _DEFAULT_SIGNATURE: export.PredictOutput(dict(built.outputs)),
        **{name: cls(built.outputs[name]) for name, cls in chosen.items()},
    }
