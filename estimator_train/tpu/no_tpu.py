"""What a TPUEstimator with `use_tpu=True` checks, and refuses, where there is no TPU."""

from collections.abc import Mapping
from typing import Any

from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.tpu.config import InputPipelineConfig, RunConfig

_VERBS = {
    ModeKeys.EVAL: ("eval_batch_size", "evaluate"),
    ModeKeys.PREDICT: ("predict_batch_size", "predict"),
}


def check_made(
    config: RunConfig, train_batch_size: Any, eval_batch_size: Any, predict_batch_size: Any
) -> None:
    """Checks what a TPUEstimator is made with.

    Raises:
      ValueError: There is no train_batch_size, a batch size is not positive, or model parallelism
        is asked for with an input that it cannot have.
      TypeError: A batch size is no int.
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


def check_steps(steps: Any, max_steps: Any) -> None:
    """Checks the arguments of `train`.

    Raises:
      TypeError: One is no int.
      ValueError: One is not positive.
    """
    for name, value in (("steps", steps), ("max_steps", max_steps)):
        if value is not None and not isinstance(value, int):
            raise TypeError(f"{name} must be int, got {type(value)}")
        if value is not None and value < 1:
            raise ValueError(f"Must specify {name} > 0, given: {value}")


def check_batch_size(sizes: Mapping[str, Any], mode: str) -> None:
    """Checks that `evaluate` and `predict` know their batch size.

    Raises:
      ValueError: They do not.
    """
    name, verb = _VERBS[mode]
    if sizes[mode] is None:
        raise ValueError(
            f"{name} in TPUEstimator constructor cannot be `None` if .{verb} is running on TPU."
        )


def refuse(takes_params: bool, model_fn: Any) -> None:
    """Ends what is to be done on a TPU.

    Raises:
      ValueError: model_fn does not take params, by which it would be told the batch size.
      RuntimeError: There is no TPU.
    """
    if not takes_params:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, required by TPUEstimator to "
            "pass batch size as params['batch_size']"
        )
    raise RuntimeError(
        "Cannot find any TPU cores in the system. estimator_train runs on CPU and GPU: pass "
        "use_tpu=False (it is True by default); on a TPU, train the model with tf_keras and "
        "tf.distribute.TPUStrategy."
    )
