"""Builds the SignatureDefs of an exported graph from receivers and outputs."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping

import tensorflow as tf
from google.protobuf.message import Message

from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.estimator_spec.export_outputs import (
    EvalOutput,
    ExportOutput,
    PredictOutput,
    SignatureDef,
    TrainOutput,
)
from estimator_train.export.receivers import Receiver, Tensor

_LOG = tf.get_logger()
_DEFAULT_SIGNATURE = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_KINDS = {
    "Classify": tf.saved_model.CLASSIFY_METHOD_NAME,
    "Regress": tf.saved_model.REGRESS_METHOD_NAME,
    "Predict": tf.saved_model.PREDICT_METHOD_NAME,
    "Train": TrainOutput.method_name,
    "Eval": EvalOutput.method_name,
}


def make_signatures(
    spec: EstimatorSpec, receiver: Receiver, outputs: Collection[str] | None = None
) -> dict[str, SignatureDef]:
    """Returns the signatures of a graph that model_fn built for the features of a receiver.

    Args:
      spec: The EstimatorSpec of model_fn. In PREDICT, its export_outputs are exported. In TRAIN
        and EVAL, its loss, predictions and metrics are one signature with the name of the mode.
      receiver: The receiver of the input_receiver_fn.
      outputs: Names of predictions that the only signature, the default one, has; None for the
        export_outputs of the model.

    Returns:
      Signature name to SignatureDef; see `build_signatures`.

    Raises:
      ValueError: The model has no such predictions.
    """
    exported: Mapping[str, ExportOutput]
    if outputs is not None:
        exported = {_DEFAULT_SIGNATURE: _choose_predictions(spec, outputs)}
    elif spec.mode == ModeKeys.TRAIN:
        exported = {spec.mode: TrainOutput(spec.loss, spec.predictions, spec.eval_metric_ops)}
    elif spec.mode == ModeKeys.EVAL:
        exported = {spec.mode: EvalOutput(spec.loss, spec.predictions, spec.eval_metric_ops)}
    else:
        exported = spec.export_outputs or {}
    return build_signatures(
        receiver.receiver_tensors,
        exported,
        getattr(receiver, "receiver_tensors_alternatives", None),
    )


def _choose_predictions(spec: EstimatorSpec, names: Collection[str]) -> PredictOutput:
    predictions = spec.predictions if isinstance(spec.predictions, Mapping) else {}
    tensors = {str(key): tensor for key, tensor in PredictOutput(dict(predictions)).outputs.items()}
    missing = sorted(set(names) - set(tensors))
    if missing or not names:
        raise ValueError(
            f"outputs={list(names)}: the predictions of this model are {sorted(tensors)} in mode "
            f"'{spec.mode}'. Choose some of them."
        )
    return PredictOutput({name: tensors[name] for name in names})


def build_signatures(
    receiver_tensors: Mapping[str, Tensor],
    export_outputs: Mapping[str, ExportOutput],
    receiver_tensors_alternatives: Mapping[str, Mapping[str, Tensor]] | None = None,
) -> dict[str, SignatureDef]:
    """Returns a signature for every combination of export output and receiver tensors.

    A combination that cannot be served is excluded, and the reason is logged: a classify or
    regress signature needs one string tensor, and the receiver tensors must be sufficient to
    compute the outputs.

    Args:
      receiver_tensors: The tensors that a request feeds, by name.
      export_outputs: Maps signature names to outputs.
      receiver_tensors_alternatives: Other dicts of such tensors, by the name of the alternative.

    Returns:
      Signature name to SignatureDef; the name is "alternative:signature" for alternatives.
    """
    receivers = {"": receiver_tensors}
    for alternative, tensors in (receiver_tensors_alternatives or {}).items():
        receivers[f"{alternative}:"] = tensors
    signatures, excluded = {}, {}
    for prefix, tensors in receivers.items():
        for key, output in export_outputs.items():
            name = prefix + str(key or "None")
            try:
                signature = output.as_signature_def(tensors)
                _check_computable(signature)
            except ValueError as error:
                excluded[name] = str(error)
            else:
                signatures[name] = signature
    _log_signatures(signatures, excluded)
    return signatures


def _log_signatures(signatures: Mapping[str, SignatureDef], excluded: Mapping[str, str]) -> None:
    for kind, method in _KINDS.items():
        names = [name for name, s in signatures.items() if s.method_name == method]
        _LOG.info("Signatures INCLUDED in export for %s: %s", kind, names or None)
    if excluded:
        _LOG.info(
            "Signatures EXCLUDED from export because they cannot be be served via TensorFlow "
            "Serving APIs:"
        )
        for name, reason in excluded.items():
            _LOG.info("'%s' : %s", name, reason)
    if not signatures:
        _LOG.warning("Export includes no signatures!")
    elif _DEFAULT_SIGNATURE not in signatures:
        _LOG.warning("Export includes no default signature!")
        _LOG.warning(
            "A client must name one of %s, unless export_outputs has the key '%s'.",
            sorted(signatures),
            _DEFAULT_SIGNATURE,
        )


def _check_computable(signature: SignatureDef) -> None:
    """Raises ValueError if an output needs a placeholder that is not among the inputs."""
    fed = [name for info in signature.inputs.values() for name in _list_tensor_names(info)]
    keys = sorted(signature.outputs)
    names = [name for key in keys for name in _list_tensor_names(signature.outputs[key])]
    path = _find_path_to_placeholder(names, set(fed))
    if path is None:
        return
    shown = " <- ".join(f"{operation.name} ({operation.type})" for operation in path)
    raise ValueError(
        f"The signature's input tensors {fed} are insufficient to compute its output keys "
        f"{keys} (respectively, tensors {names}) because of the dependency on "
        f"`{path[-1].name}` which is not given as a signature input, as illustrated by the "
        f"following dependency path: {shown}"
    )


def _list_tensor_names(info: Message) -> Iterator[str]:
    """Yields the names of the dense tensors in an entry (TensorInfo) of a signature."""
    encoding = info.WhichOneof("encoding")
    if encoding == "coo_sparse":
        yield info.coo_sparse.values_tensor_name
        yield info.coo_sparse.indices_tensor_name
        yield info.coo_sparse.dense_shape_tensor_name
    elif encoding == "composite_tensor":
        for component in info.composite_tensor.components:
            yield component.name
    else:
        yield info.name


def _find_path_to_placeholder(names: list[str], fed: set[str]) -> list[tf.Operation] | None:
    """Returns the shortest path from a tensor back to a placeholder that is not fed, or None."""
    graph = tf.compat.v1.get_default_graph()
    consumers: dict[tf.Operation, tf.Operation | None] = {}  # Of each visited operation.
    queue: deque[tf.Operation] = deque()

    def visit(tensors: list[tf.Tensor], consumer: tf.Operation | None) -> None:
        for tensor in tensors:
            if tensor.name not in fed and tensor.op not in consumers:
                consumers[tensor.op] = consumer
                queue.append(tensor.op)

    visit([graph.get_tensor_by_name(name) for name in names], None)
    while queue:
        operation = queue.popleft()
        if operation.type == "Placeholder":
            path = [operation]
            while (consumer := consumers[path[0]]) is not None:
                path.insert(0, consumer)
            return path
        visit(list(operation.inputs), operation)
    return None
