"""Dry run of a job: a few steps of each of its parts, in a temporary directory."""

import copy
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.engine.checkpoints.reading import read_saved_global_step
from estimator_train.engine.inputs.input_fn import make_inputs
from estimator_train.engine.inputs.start import start_hooks
from estimator_train.engine.job import Job
from estimator_train.engine.types import InputFn
from estimator_train.estimator_spec import ModeKeys
from estimator_train.training.specs import EvalSpec, TrainSpec, check_specs

_LOG = tf.get_logger()
_TRAIN_STEPS = 2
_EVAL_STEPS = 1


class DryRun(NamedTuple):
    """The outcome of a dry run.

    Attributes:
      global_step: Number of training steps.
      metrics: Name of an EvalSpec (None without one) to the metrics of one batch.
      exports: Names of the exporters that wrote something.
      prediction: Output name to value for one example, as the first exported model serves it, by
        its default signature if there is one; None if there is no export or signature, or the
        features do not fit the signature.
    """

    global_step: int
    metrics: dict[str | None, dict[str, Any]]
    exports: list[str]
    prediction: dict[str, Any] | None


def dry_run(
    # Any: Estimator imports this module.
    estimator: Any,
    train_spec: TrainSpec,
    eval_spec: EvalSpec | Sequence[EvalSpec],
) -> DryRun:
    """Runs a short version of `train_and_evaluate`, so that a broken job fails now.

    Two training steps from the first values of the variables, one batch of each evaluation, one
    export of each exporter and one prediction of an exported model are made in a temporary
    directory that is removed again; nothing is written to model_dir. Hooks and listeners of the
    specs are left out, since they may write elsewhere. The arguments are those of
    `train_and_evaluate`.

    Returns:
      The outcome.

    Raises:
      ValueError: The training input is empty.
      Exception: Whatever the job would raise.
    """
    specs = check_specs(train_spec, eval_spec)
    with tempfile.TemporaryDirectory(prefix="dry_run_") as directory:
        trial = estimator._copy_for(directory)
        _LOG.info("Dry run in %s: %d training steps.", directory, _TRAIN_STEPS)
        listeners = [tf.compat.v1.train.CheckpointSaverListener()]
        trial.train(train_spec.input_fn, steps=_TRAIN_STEPS, saving_listeners=listeners)
        global_step = read_saved_global_step(trial.model_dir)
        if not global_step:
            raise ValueError(
                f"The training made no step: input_fn ({train_spec.input_fn}) gives no data."
            )
        metrics, exported = {}, {}
        for spec in specs:
            metrics[spec.name] = trial.evaluate(spec.input_fn, _EVAL_STEPS, name=spec.name)
            exported.update(_export(trial, spec, metrics[spec.name]))
        prediction = _serve(trial, specs[0], list(exported.values()))
    return DryRun(global_step, metrics, list(exported), prediction)


def _export(trial: Any, spec: EvalSpec, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Runs the exporters; returns the results of those that exported, by exporter name."""
    exported = {}
    for exporter in spec.exporters:
        _LOG.info("Dry run: exporter '%s'.", exporter.name)
        path = copy.copy(exporter).export(
            estimator=trial,
            export_path=os.path.join(trial.model_dir, "export", exporter.name),
            checkpoint_path=trial.latest_checkpoint() or "",
            eval_result=metrics,
            is_the_final_export=True,
        )
        if path:
            exported[exporter.name] = path
    return exported


def _serve(trial: Any, spec: EvalSpec, exports: Sequence[Any]) -> dict[str, Any] | None:
    """Serves one prediction with the first export; returns None if there is no export."""
    paths = [os.fsdecode(path) for path in exports if isinstance(path, (str, bytes))]
    paths = [path for path in paths if tf.compat.v1.saved_model.contains_saved_model(path)]
    if not paths:
        return None
    example = _read_first_example(trial._make_job(ModeKeys.EVAL), spec.input_fn)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        model = tf.compat.v1.saved_model.load(session, [tf.saved_model.SERVING], paths[0])
        default = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        # An export may have no default signature, and its map would return an empty one.
        names = sorted(model.signature_def, key=lambda name: (name != default, name))
        if not names:
            return None
        signature = model.signature_def[names[0]]
        outputs = {name: info.name for name, info in signature.outputs.items()}
        try:
            served: dict[str, Any] = session.run(outputs, _build_request(signature.inputs, example))
            return served
        except (_NoRequestError, tf.errors.InvalidArgumentError) as error:
            kind = getattr(getattr(error, "op", None), "type", "")  # Of the failed operation.
            if not isinstance(error, _NoRequestError) and not kind.startswith("ParseExample"):
                raise
            _LOG.warning(
                "Dry run: no prediction was served, because no request for the inputs %s can be "
                "made of the features %s: %s",
                sorted(signature.inputs),
                sorted(example),
                error,
            )
            return None


class _NoRequestError(ValueError):
    """The features lack an input of a signature."""


def _build_request(
    inputs: Mapping[str, tf.compat.v1.TensorInfo], example: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Returns the value of each input tensor of a signature, for one example."""
    request = {}
    for name, info in inputs.items():
        dtype = tf.dtypes.as_dtype(info.dtype)
        if not info.name:
            raise _NoRequestError(f"{name} is not a dense tensor")
        if name in example:
            value = example[name]
        elif len(inputs) == len(example) == 1 and dtype != tf.string:
            value = next(iter(example.values()))
        elif dtype == tf.string:
            value = np.array([_serialize(example)], object)
        else:
            raise _NoRequestError(f"no feature is named {name}")
        try:
            value = value.astype(dtype.as_numpy_dtype)
        except ValueError as error:
            raise _NoRequestError(f"{name} is {dtype.name}: {error}") from error
        shape = tf.TensorShape(info.tensor_shape)
        if not shape.is_compatible_with(value.shape):
            raise _NoRequestError(f"{name} has shape {shape} and the feature {value.shape}")
        request[info.name] = value
    return request


def _serialize(example: Mapping[str, np.ndarray]) -> bytes:
    """Returns a serialized tf.train.Example of one example's features."""
    features = {}
    for name, value in example.items():
        flat = value.ravel()
        if flat.dtype.kind in "iub":
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=flat.astype(np.int64)))
        elif flat.dtype.kind == "f":
            feature = tf.train.Feature(float_list=tf.train.FloatList(value=flat))
        else:
            texts = [tf.compat.as_bytes(text) for text in flat]
            feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=texts))
        features[name] = feature
    message = tf.train.Example(features=tf.train.Features(feature=features))
    return bytes(message.SerializeToString())


def _read_first_example(job: Job, input_fn: InputFn) -> dict[str, np.ndarray]:
    """Returns the first example's features by name, with a batch dimension of 1."""
    with tf.Graph().as_default():
        inputs = make_inputs(job, input_fn, ModeKeys.EVAL)
        features = inputs.features
        if not isinstance(features, Mapping):
            features = {"": features}
        dense = {n: t for n, t in features.items() if isinstance(t, tf.Tensor)}
        with tf.compat.v1.train.MonitoredSession(hooks=start_hooks(inputs)) as session:
            return {name: value[:1] for name, value in session.run(dense).items()}
