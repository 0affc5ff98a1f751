"""TPUEstimator on CPU and GPU, and its checks and errors with `use_tpu=True`."""

import contextlib
import copy
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import tensorflow as tf

from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.engine.graph import step_graph
from estimator_train.engine.inputs.input_fn import call_input_fn, is_dataset, split
from estimator_train.engine.job import Job, call_model_fn, list_argument_names, validate_model_fn
from estimator_train.engine.types import (
    Hook,
    InputFn,
    Listener,
    Params,
    PredictKeys,
    TensorStructure,
)
from estimator_train.estimator import Estimator
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.estimator_spec.tpu_spec import TPUEstimatorSpec
from estimator_train.tpu.config import InputPipelineConfig, RunConfig

_LOG = tf.get_logger()
_BATCH_SIZE = "batch_size"
_RESERVED = [_BATCH_SIZE, "context"]
_VERBS = {
    ModeKeys.EVAL: ("eval_batch_size", "evaluate"),
    ModeKeys.PREDICT: ("predict_batch_size", "predict"),
}


class TPUEstimator(Estimator):
    """Estimator whose model_fn may return a TPUEstimatorSpec, with a batch size for each mode.

    With `use_tpu=False` it runs on CPU and GPU, as in tf.estimator 2.15: `params["batch_size"]` of
    model_fn and input_fn is the batch size of the mode, and model_fn gets `params["use_tpu"]`. With
    `use_tpu=True` only its checkpoints can be read and exported, and evaluated with
    `eval_on_tpu=False`: train, evaluate and predict raise RuntimeError.

    `model_dir` and `warm_start_from` are those of `Estimator`; other arguments that are not listed
    have no effect without a TPU.

    Args:
      model_fn: As for `Estimator`; it may return a `TPUEstimatorSpec`.
      config: A `RunConfig` of `estimator_train.tpu`.
      params: A dict or HParams without the keys "batch_size" and "context".
      use_tpu: Whether to train, evaluate and predict on a TPU, which raises RuntimeError.
      train_batch_size: Examples in a batch of training; None: input_fn chooses the number.
      eval_batch_size: Examples in a batch of evaluation, or None.
      predict_batch_size: Examples in a batch of prediction, or None.
      eval_on_tpu: Whether use_tpu applies to evaluation.

    Raises:
      ValueError: config is not a RunConfig of `estimator_train.tpu`, or params have reserved keys;
        with use_tpu, a batch size is not positive, or model_fn has unknown arguments.
      TypeError: With use_tpu, a batch size is not an int.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Params = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: str | WarmStartSettings | None = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ) -> None:
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        self._batch_sizes: dict[str | None, int | None] = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        self._use_tpu = use_tpu
        if use_tpu:
            _check_arguments(config, train_batch_size, eval_batch_size, predict_batch_size)
        self._user_model_fn = model_fn
        validate_model_fn(model_fn, params)
        self._eval_on_tpu = eval_on_tpu or config.tpu_config.num_shards == 1
        super().__init__(_adapt_model_fn(model_fn), model_dir, config, params, warm_start_from)

    def train(
        self,
        input_fn: InputFn,
        hooks: Sequence[Hook] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Listener] | None = None,
    ) -> "TPUEstimator":
        """Trains on CPU or GPU; see `Estimator.train`.

        Raises:
          RuntimeError: The training needs a TPU.
        """
        if self._use_tpu:
            _check_steps(steps, max_steps)
            self._refuse(input_fn, ModeKeys.TRAIN)
        with _log_end_of("training"):
            super().train(input_fn, hooks, steps, max_steps, saving_listeners)
        return self

    def evaluate(
        self,
        input_fn: InputFn,
        steps: int | None = None,
        hooks: Sequence[Hook] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates on CPU or GPU; see `Estimator.evaluate`.

        Raises:
          RuntimeError: The evaluation needs a TPU.
        """
        if self._use_tpu and self._eval_on_tpu:
            _check_batch_size(self._batch_sizes, ModeKeys.EVAL)
            self._refuse(input_fn, ModeKeys.EVAL)
        with _log_end_of("evaluation"):
            return super().evaluate(input_fn, steps, hooks, checkpoint_path, name)

    def predict(
        self,
        input_fn: InputFn,
        predict_keys: PredictKeys = None,
        hooks: Sequence[Hook] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields predictions from CPU or GPU; see `Estimator.predict`.

        Raises:
          RuntimeError: The prediction needs a TPU.
        """
        if self._use_tpu:
            _check_batch_size(self._batch_sizes, ModeKeys.PREDICT)
            self._refuse(input_fn, ModeKeys.PREDICT)
        with _log_end_of("prediction"):
            yield from super().predict(
                input_fn, predict_keys, hooks, checkpoint_path, yield_single_examples
            )

    def _refuse(self, input_fn: InputFn, mode: str) -> NoReturn:
        job = dataclasses.replace(self._make_job(mode), model_fn=self._user_model_fn)
        _raise_missing_tpu(job, input_fn, mode)

    def _make_job(self, mode: str | None) -> Job:
        """Returns one call of this Estimator for the engine, with the batch sizes.

        The params of train, evaluate and predict have the batch size of the mode; those of exports
        and predictors have none.
        """
        job, size = super()._make_job(mode), self._batch_sizes.get(mode)
        params = job.params if size is None else _add_param(job.params, _BATCH_SIZE, size)
        examples_per_step = self._batch_sizes[ModeKeys.TRAIN]
        return dataclasses.replace(job, params=params, examples_per_step=examples_per_step)


@contextlib.contextmanager
def _log_end_of(loop: str) -> Iterator[None]:
    try:
        yield
    finally:
        _LOG.info("%s_loop marked as finished", loop)


def _adapt_model_fn(model_fn: Callable[..., Any]) -> Callable[..., EstimatorSpec]:
    """Returns a model_fn that passes `use_tpu=False` to the user's, for an EstimatorSpec.

    It requires no argument, so that `Estimator` does not repeat the warning about missing params.
    """

    def call_adapted(
        features: TensorStructure,
        labels: TensorStructure,
        mode: str,
        params: Params = None,
        config: RunConfig | None = None,
    ) -> EstimatorSpec:
        _LOG.info("Running %s on CPU/GPU", mode)
        available = {"features": features, "labels": labels, "mode": mode, "config": config}
        available["params"] = _add_param(params, "use_tpu", False)
        spec = call_model_fn(model_fn, available)
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

    return call_adapted


def _add_param(params: Params, key: str, value: int | bool) -> Params:
    """Returns a copy of params, a dict or an HParams, with one more item."""
    if isinstance(params, Mapping):
        return {**params, key: value}
    copied = copy.deepcopy(params)
    (copied.set_hparam if key in copied else copied.add_hparam)(key, value)
    return copied


def _check_arguments(
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


def _check_steps(steps: int | None, max_steps: int | None) -> None:
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


def _check_batch_size(sizes: Mapping[str | None, int | None], mode: str) -> None:
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


def _raise_missing_tpu(job: Job, input_fn: InputFn, mode: str) -> NoReturn:
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
    with step_graph.open_model_graph(job) as graph:
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
        spec = step_graph.call_model_fn(job, features, labels, mode)
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
