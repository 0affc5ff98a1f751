"""TPUEstimator on CPU and GPU."""

import copy
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.user_functions import (
    argument_names,
    call_with_known,
    validate_model_fn,
)
from estimator_train.estimator import Estimator
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys
from estimator_train.tpu import no_tpu
from estimator_train.tpu.config import RunConfig
from estimator_train.tpu.spec import TPUEstimatorSpec

_BATCH_SIZE = "batch_size"
_RESERVED = [_BATCH_SIZE, "context"]


class TPUEstimator(Estimator):
    """An Estimator whose model_fn may return a TPUEstimatorSpec, with batch sizes of its own.

    It runs on CPU and GPU as tf.estimator 2.15 with `use_tpu=False`: model_fn and input_fn find
    the batch size of their mode as `params["batch_size"]`, and model_fn `params["use_tpu"]`. With
    `use_tpu=True` it can be asked for its checkpoints and exported, and neither trained, evaluated
    nor predicted with.

    `model_dir` and `warm_start_from` are those of `Estimator`; other arguments that are not listed
    are of TPUs only.

    Args:
      model_fn: As for `Estimator`; it may return a `TPUEstimatorSpec`.
      config: A `RunConfig` of this package.
      params: A dict or HParams, without "batch_size" and "context".
      use_tpu: Whether to train, evaluate and predict on a TPU, which is refused.
      train_batch_size: Examples in a batch of training; None: input_fn must know itself.
      eval_batch_size: The same of evaluation.
      predict_batch_size: The same of prediction.

    Raises:
      ValueError: config is no RunConfig of this package, or params have reserved keys; with
        use_tpu, a batch size is not positive, or model_fn has arguments that are not known.
      TypeError: With use_tpu, a batch size is no int.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ) -> None:
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        self._use_tpu = use_tpu
        if use_tpu:
            no_tpu.check_made(config, train_batch_size, eval_batch_size, predict_batch_size)
        self._now: str | None = None
        self._user_model_fn = model_fn
        validate_model_fn(model_fn, params)
        self._takes_params = "params" in argument_names(model_fn)
        super().__init__(_adapted(model_fn), model_dir, config, params, warm_start_from)

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Any = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Any = None,
    ) -> "TPUEstimator":
        """See `Estimator.train`.

        Raises:
          RuntimeError: It is to be done on a TPU.
        """
        if self._use_tpu:
            no_tpu.check_steps(steps, max_steps)
            no_tpu.refuse(self._takes_params, self._user_model_fn)
        self._now = ModeKeys.TRAIN
        super().train(input_fn, hooks, steps, max_steps, saving_listeners)
        return self

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """See `Estimator.evaluate`.

        Raises:
          RuntimeError: It is to be done on a TPU.
        """
        if self._use_tpu:
            no_tpu.check_batch_size(self._batch_sizes, ModeKeys.EVAL)
            no_tpu.refuse(self._takes_params, self._user_model_fn)
        self._now = ModeKeys.EVAL
        return super().evaluate(*args, **kwargs)

    def predict(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """See `Estimator.predict`.

        Raises:
          RuntimeError: It is to be done on a TPU.
        """
        if self._use_tpu:
            no_tpu.check_batch_size(self._batch_sizes, ModeKeys.PREDICT)
            no_tpu.refuse(self._takes_params, self._user_model_fn)
        self._now = ModeKeys.PREDICT
        yield from super().predict(*args, **kwargs)

    def _context(self) -> EstimatorContext:
        """The mode of the verb that was called; an export has none, and no batch."""
        size = self._batch_sizes.get(self._now) if self._now else None
        self._now = None
        context = super()._context()
        if size is None:
            return context
        return dataclasses.replace(context, params=_with(context.params, _BATCH_SIZE, size))


def _adapted(model_fn: Callable[..., Any]) -> Callable[..., EstimatorSpec]:
    """A model_fn that tells the user's of the absent TPU and returns an EstimatorSpec."""

    def adapted(features: Any, labels: Any, mode: str, params: Any, config: Any) -> EstimatorSpec:
        available = {"features": features, "labels": labels, "mode": mode, "config": config}
        spec = call_with_known(model_fn, {**available, "params": _with(params, "use_tpu", False)})
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

    return adapted


def _with(params: Any, key: str, value: Any) -> Any:
    """A copy of params, a dict or an HParams, with one more item."""
    if isinstance(params, Mapping):
        return {**params, key: value}
    copied = copy.deepcopy(params)
    (copied.set_hparam if key in copied else copied.add_hparam)(key, value)
    return copied
