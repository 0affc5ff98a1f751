"""Checks and errors of a TPUEstimator with `use_tpu=True` on a machine without a TPU."""

from collections.abc import Mapping
from typing import NoReturn

import tensorflow as tf

from estimator_train.engine.graph.step_graph import call_model_fn, open_model_graph
from estimator_train.engine.inputs.input_fn import call_input_fn, is_dataset, split
from estimator_train.engine.job import Job, list_argument_names
from estimator_train.engine.types import InputFn, TensorStructure
from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.tpu.config import InputPipelineConfig, RunConfig

_VERBS = {
    ModeKeys.EVAL: ("eval_batch_size", "evaluate"),
    ModeKeys.PREDICT: ("predict_batch_size", "predict"),
}


def check_arguments(
    config: RunConfig,
    train_batch_size: int | None,
    eval_batch_size: int | None,
    predict_batch_size: int | None,
) -> None:
    """Checks the arguments of the constructor.

    Raises:
      ValueError: train_batch_size is missing, a batch size is not positive, or model parallelism
        has an input pipeline for each shard.
      TypeError: A batch size is not an int.
    """
    if train_batch_size is None:
        raise ValueError("`train_batch_size` cannot be `None`")
    for name, size in (
        ("train_batch_size", train_batch_size),
        ("eval_batch_size", eval_batch_size),
        ("predict_batch_size", predict_batch_size),
    ):
        if size is not None and not isinstance(size, int):
            raise TypeError(f"{name} must be int, got {type(size)}")
        if size is not None and size < 1:
            raise ValueError(f"{name} must be positive, got {size}")
    settings = config.tpu_config
    by_shards = settings.per_host_input_for_training == InputPipelineConfig.PER_SHARD_V1
    if by_shards and settings.num_cores_per_replica:
        raise ValueError(
            "Model parallelism only supports per host input for training. Please adjust "
            "TPURunconfig.per_host_input_for_training."
        )


def check_steps(steps: int | None, max_steps: int | None) -> None:
    """Checks the arguments of `train`.

    Raises:
      TypeError: An argument is not an int.
      ValueError: An argument is not positive.
    """
    for name, value in (("steps", steps), ("max_steps", max_steps)):
        if value is not None and not isinstance(value, int):
            raise TypeError(f"{name} must be int, got {type(value)}")
        if value is not None and value < 1:
            raise ValueError(f"Must specify {name} > 0, given: {value}")


def check_batch_size(sizes: Mapping[str | None, int | None], mode: str) -> None:
    """Checks that a call of `evaluate` or `predict` has a batch size.

    Args:
      sizes: The batch size of each mode, or None.
      mode: ModeKeys.EVAL or ModeKeys.PREDICT.

    Raises:
      ValueError: The batch size of the mode is missing.
    """
    name, verb = _VERBS[mode]
    if sizes[mode] is None:
        raise ValueError(
            f"{name} in TPUEstimator constructor cannot be `None` if .{verb} is running on TPU."
        )


def refuse(job: Job, input_fn: InputFn, mode: str) -> NoReturn:
    """Raises the error of a call that needs a TPU, or that of an argument that comes before it.

    tf.estimator looks for the TPU first, unless `TPUConfig(num_shards=1)` tells how many cores the
    model needs: then it builds the model first, and checks what input_fn and model_fn return.

    Args:
      job: The call of the Estimator.
      input_fn: The user's input_fn.
      mode: A ModeKeys value.

    Raises:
      ValueError: model_fn does not take params, which pass the batch size; or an input does not
        have a static shape.
      TypeError: input_fn must return a dataset and does not.
      RuntimeError: The machine has no TPU.
    """
    if "params" not in list_argument_names(job.model_fn):
        raise ValueError(
            f"model_fn ({job.model_fn}) does not include params argument, required by "
            "TPUEstimator to pass batch size as params['batch_size']"
        )
    settings = getattr(job.config, "tpu_config", None)
    if settings is not None and settings.num_shards == 1 and not settings.num_cores_per_replica:
        _check_functions(job, input_fn, mode, settings.per_host_input_for_training)
    raise RuntimeError(
        "Cannot find any TPU cores in the system. estimator_train runs on CPU and GPU: pass "
        "use_tpu=False (it is True by default); on a TPU, train the model with tf_keras and "
        "tf.distribute.TPUStrategy."
    )


def _check_functions(job: Job, input_fn: InputFn, mode: str, pipeline: int) -> None:
    """Checks the results of input_fn and model_fn."""
    with open_model_graph(job) as graph:
        job.create_global_step(graph)
        result = call_input_fn(job, input_fn, mode)
        if is_dataset(result):
            result = tf.compat.v1.data.make_initializable_iterator(result).get_next()
        elif mode == ModeKeys.PREDICT:
            raise TypeError(
                "For mode PREDICT, `input_fn` must return `Dataset` instead of `features` and "
                "`labels`."
            )
        elif pipeline == InputPipelineConfig.PER_HOST_V2:
            raise TypeError(
                "`input_fn` must return a `Dataset` for the PER_HOST_V2 input pipeline "
                "configuration."
            )
        features, labels = split(result)
        if mode != ModeKeys.PREDICT:
            _check_batch_dimension(features, labels)
        _check_static_shapes("features", features)
        _check_static_shapes("labels", labels)
        spec = call_model_fn(job, features, labels, mode)
        if spec.training_chief_hooks:
            raise ValueError(
                "training_chief_hooks returned by EstimatorSpec is not supported in TPUEstimator."
                "If you want to pass training hooks, please pass via training_hooks."
            )


def _check_batch_dimension(features: TensorStructure, labels: TensorStructure) -> None:
    for tensor in _list_tensors((features, labels)):
        if tensor.shape.rank and tensor.shape[0] is None:
            raise ValueError(
                f"Shape {tensor.shape.as_list()} must have a fixed size for dimension 0 that is "
                "known. "
            )


def _check_static_shapes(name: str, structure: TensorStructure) -> None:
    for tensor in _list_tensors(structure):
        if tensor.shape.rank and not tensor.shape[1:].is_fully_defined():
            raise ValueError(
                f"The {name} to the model returned by input_fn must have static shape. Tensor: "
                f"{tensor}"
            )


def _list_tensors(structure: TensorStructure) -> list[tf.Tensor]:
    return [part for part in tf.nest.flatten(structure) if isinstance(part, tf.Tensor)]
