"""SignatureDefs: which requests an exported graph answers, made of receivers and outputs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.estimator_spec.export_outputs import (
    EvalOutput,
    ExportOutput,
    SignatureDef,
    TrainOutput,
)
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys

_LOG = tf.get_logger()
_DEFAULT_SIGNATURE = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_KINDS = {
    "Classify": tf.saved_model.CLASSIFY_METHOD_NAME,
    "Regress": tf.saved_model.REGRESS_METHOD_NAME,
    "Predict": tf.saved_model.PREDICT_METHOD_NAME,
    "Train": TrainOutput.method_name,
    "Eval": EvalOutput.method_name,
}


def signatures_of(spec: EstimatorSpec, receiver: Any) -> dict[str, SignatureDef]:
    """The signatures of a graph that model_fn built on a receiver's features.

    Args:
      spec: what model_fn returned. In PREDICT its export_outputs are exported; in TRAIN and
        EVAL its loss, predictions and metrics, as one signature of the mode's name.
      receiver: what the input_receiver_fn returned.

    Returns:
      Signature name to SignatureDef; see `build_signatures`.
    """
    outputs: Mapping[str, ExportOutput]
    if spec.mode == ModeKeys.TRAIN:
        outputs = {spec.mode: TrainOutput(spec.loss, spec.predictions, spec.eval_metric_ops)}
    elif spec.mode == ModeKeys.EVAL:
        outputs = {spec.mode: EvalOutput(spec.loss, spec.predictions, spec.eval_metric_ops)}
    else:
        outputs = spec.export_outputs or {}
    return build_signatures(
        receiver.receiver_tensors,
        outputs,
        getattr(receiver, "receiver_tensors_alternatives", None),
    )


def build_signatures(
    receiver_tensors: Mapping[str, Any],
    export_outputs: Mapping[str, ExportOutput],
    receiver_tensors_alternatives: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, SignatureDef]:
    """Makes a signature of every export output with every set of receiver tensors.

    A pair that cannot be served is left out and logged with the reason: a classify or regress
    signature needs one string tensor, and the receiver tensors must suffice for the outputs.

    Args:
      receiver_tensors: the tensors a request feeds, by the name it gives them.
      export_outputs: signature name to output.
      receiver_tensors_alternatives: more such sets of tensors, by the name of the set.

    Returns:
      Signature name to SignatureDef; "alternative:signature" for those of alternatives.
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


def _check_computable(signature: SignatureDef) -> None:
    """Raises ValueError if an output needs a placeholder that is not among the inputs."""
    fed = [name for info in signature.inputs.values() for name in _tensor_names(info)]
    keys = sorted(signature.outputs)
    names = [name for key in keys for name in _tensor_names(signature.outputs[key])]
    path = _path_to_placeholder(names, set(fed))
    if path is None:
        return
    shown = " <- ".join(f"{operation.name} ({operation.type})" for operation in path)
    raise ValueError(
        f"The signature's input tensors {fed} are insufficient to compute its output keys "
        f"{keys} (respectively, tensors {names}) because of the dependency on "
        f"`{path[-1].name}` which is not given as a signature input, as illustrated by the "
        f"following dependency path: {shown}"
    )


def _tensor_names(info: Any) -> Iterator[str]:
    """The names of the dense tensors that an entry of a signature consists of."""
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


def _path_to_placeholder(names: list[str], fed: set[str]) -> list[tf.Operation] | None:
    """The shortest way from a tensor back to a placeholder that is not fed, if there is one."""
    graph = tf.compat.v1.get_default_graph()
    # Each operation that was reached, with the one that needs it.
    needed_by: dict[tf.Operation, tf.Operation | None] = {}
    waiting: deque[tf.Operation] = deque()

    def reach(tensors: list[tf.Tensor], user: tf.Operation | None) -> None:
        for tensor in tensors:
            if tensor.name not in fed and tensor.op not in needed_by:
                needed_by[tensor.op] = user
                waiting.append(tensor.op)

    reach([graph.get_tensor_by_name(name) for name in names], None)
    while waiting:
        operation = waiting.popleft()
        if operation.type == "Placeholder":
            path = [operation]
            while (user := needed_by[path[0]]) is not None:
                path.insert(0, user)
            return path
        reach(list(operation.inputs), operation)
    return None
