"""`SavedModelEstimator`: trains, evaluates and predicts with the graphs of a SavedModel."""

import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

import estimator_train as est
from estimator_train import export
from tf_contrib._types import Session
from tf_contrib.estimator import saved_model_graphs as graphs
from tf_contrib.estimator.saved_model_graphs import MetaGraph, Tensors

_v1 = tf.compat.v1
_Modes = est.ModeKeys
# Tag and key of the signature of the graph of each mode.
_GRAPHS = {
    _Modes.TRAIN: ("train", "train"),
    _Modes.EVAL: ("eval", "eval"),
    _Modes.PREDICT: (
        tf.saved_model.SERVING,
        tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    ),
}
_METRICS = "metrics/"


class SavedModelEstimator(est.Estimator):
    """Estimator whose model is a SavedModel of `experimental_export_all_saved_models`.

    Without a checkpoint in model_dir, the variables and the global step have the values of the
    SavedModel. Features and labels are dicts with the names of the inputs of the SavedModel; a
    single tensor of labels has the name `label`.

    Args:
      saved_model_dir: Directory of the SavedModel.
      model_dir: Directory of checkpoints and events; by default a temporary directory.

    Raises:
      ValueError: The directory has no SavedModel.
    """

    def __init__(self, saved_model_dir: str, model_dir: str | None = None) -> None:
        self._saved_model_dir = os.fsdecode(saved_model_dir)
        self._meta_graphs = graphs.read_meta_graphs(self._saved_model_dir)
        super().__init__(self._build_model, model_dir)

    def _create_global_step(self, graph: tf.Graph) -> tf.Variable:
        is_resource = graphs.keeps_step_as_resource(self._meta_graphs[0])
        with (
            graph.as_default(),
            _v1.variable_scope(_v1.get_variable_scope(), use_resource=is_resource),
        ):
            return _v1.train.create_global_step(graph)

    def _build_model(self, features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        tag, signature = _GRAPHS[mode]
        meta_graph = self._get_meta_graph(tag, mode)
        inputs = _map_inputs(meta_graph, signature, _name_inputs(features, labels))
        outputs, train_op = graphs.import_meta_graph(meta_graph, inputs, signature)
        scaffold = _v1.train.Scaffold(init_fn=self._make_init_fn())
        if mode == _Modes.PREDICT:
            exports: dict[str, Any] = {signature: export.PredictOutput(outputs)}
            return est.EstimatorSpec(mode, outputs, export_outputs=exports, scaffold=scaffold)
        return est.EstimatorSpec(
            mode,
            loss=outputs["loss"],
            train_op=train_op,
            eval_metric_ops=_find_metrics(outputs) if mode == _Modes.EVAL else None,
            scaffold=scaffold,
        )

    def _get_meta_graph(self, tag: str, mode: str) -> MetaGraph:
        for meta_graph in self._meta_graphs:
            if set(meta_graph.meta_info_def.tags) == {tag}:
                return meta_graph
        raise RuntimeError(
            f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check that "
            "the Metagraph for this mode has been exported."
        )

    def _make_init_fn(self) -> Any:
        path = os.path.join(self._saved_model_dir, "variables", "variables")
        saver = _v1.train.Saver(_v1.global_variables())

        def restore(scaffold: tf.compat.v1.train.Scaffold, session: Session) -> None:
            del scaffold
            saver.restore(session, path)

        return restore


def _name_inputs(features: Any, labels: Any) -> Tensors:
    """Returns features and labels by name."""
    named = dict(features) if isinstance(features, Mapping) else {"feature": features}
    if labels is None:
        return named
    return {**named, **(labels if isinstance(labels, Mapping) else {"label": labels})}


def _map_inputs(meta_graph: MetaGraph, signature: str, given: Tensors) -> Tensors:
    """Returns the given tensors by the names of the tensors that they replace.

    Raises:
      ValueError: An input is missing, or has another type or shape.
    """
    inputs = {}
    expected = meta_graph.signature_def[signature].inputs
    for name, info in expected.items():
        if name not in given:
            raise ValueError(
                f'Key "{name}" not found in features or labels passed in to the model function. '
                f"All required keys: {sorted(expected)}"
            )
        tensor = given[name]
        dtype, shape = tf.as_dtype(info.dtype), tf.TensorShape(info.tensor_shape)
        wrong = []
        if tensor.dtype != dtype:
            wrong.append(f"\n\tExpected dtype: {dtype}, Got: {tensor.dtype}")
        if not tensor.shape.is_compatible_with(shape):
            wrong.append(f"\n\tExpected shape: {shape}, Got: {tensor.shape}")
        if wrong:
            raise ValueError(
                f"Tensor shape and/or dtype validation failed for input {name}:{''.join(wrong)}"
            )
        inputs[info.name] = tensor
    return inputs


def _find_metrics(outputs: Tensors) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
    """Returns the value and the update of each metric."""
    update = "/update_op"
    names = [
        name.removesuffix(update)
        for name in outputs
        if name.startswith(_METRICS) and name.endswith(update)
    ]
    return {name: (outputs[f"{name}/value"], outputs[f"{name}{update}"]) for name in names}
