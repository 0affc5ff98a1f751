"""`tf.contrib.gan.estimator.GANEstimator`."""

import enum
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib._types import Nest, Optimizer, TensorLike
from tf_contrib.gan import training
from tf_contrib.gan.namedtuples import GANLoss, GANModel, GANTrainOps

_v1 = tf.compat.v1


class SummaryType(enum.IntEnum):
    """Kinds of summaries to write."""

    NONE = 0
    VARIABLES = 1
    IMAGES = 2
    IMAGE_COMPARISON = 3


class GANEstimator(v1.Estimator):
    """Estimator of a generator and a discriminator.

    The input_fn returns the input of the generator as features and real data as labels. Predictions
    are generated data.

    Args:
      model_dir: Directory of the model.
      generator_fn: Function of the generator's input, and optionally `mode`, that returns data.
      discriminator_fn: Function of data and the generator's input, and optionally `mode`, that
        returns scores.
      generator_loss_fn: Function of a GANModel that returns the generator's loss.
      discriminator_loss_fn: Function of a GANModel that returns the discriminator's loss.
      generator_optimizer: Optimizer of the generator, or a function that returns it.
      discriminator_optimizer: Optimizer of the discriminator, or a function that returns it.
      get_hooks_fn: Function of GANTrainOps that returns hooks to run them; by default the generator
        is trained first, then the discriminator.
      get_eval_metric_ops_fn: Function of a GANModel that returns metrics.
      add_summaries: SummaryType or a list of them; variables are written, images are not.
      use_loss_summaries: Whether to write summaries of the losses.
      config: Settings of the run.
      warm_start_from: Checkpoint or settings to start from, as for `Estimator`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        generator_fn: Callable[..., Any] | None = None,
        discriminator_fn: Callable[..., Any] | None = None,
        generator_loss_fn: Callable[..., Any] | None = None,
        discriminator_loss_fn: Callable[..., Any] | None = None,
        generator_optimizer: Optimizer | Callable[[], Optimizer] | None = None,
        discriminator_optimizer: Optimizer | Callable[[], Optimizer] | None = None,
        get_hooks_fn: Callable[..., Any] | None = None,
        get_eval_metric_ops_fn: Callable[..., Any] | None = None,
        add_summaries: SummaryType | Sequence[SummaryType] | None = None,
        use_loss_summaries: bool = True,
        config: v1.RunConfig | None = None,
        warm_start_from: str | v1.WarmStartSettings | None = None,
    ) -> None:
        if not callable(generator_fn):
            raise ValueError("generator_fn must be callable.")
        if not callable(discriminator_fn):
            raise ValueError("discriminator_fn must be callable.")
        kinds = add_summaries if isinstance(add_summaries, (list, tuple)) else [add_summaries]
        loss_fns = {
            "generator_loss_fn": generator_loss_fn,
            "discriminator_loss_fn": discriminator_loss_fn,
        }
        loss_arguments: Any = {name: fn for name, fn in loss_fns.items() if fn is not None}

        def model_fn(features: Nest, labels: TensorLike, mode: str) -> v1.EstimatorSpec:
            bound_generator = _bind_mode(generator_fn, mode)
            if mode == v1.ModeKeys.PREDICT:
                with _v1.variable_scope("Generator"):
                    return v1.EstimatorSpec(mode, predictions=bound_generator(features))
            model = training.gan_model(
                bound_generator, _bind_mode(discriminator_fn, mode), labels, features
            )
            loss = training.gan_loss(model, add_summaries=use_loss_summaries, **loss_arguments)
            if mode == v1.ModeKeys.EVAL:
                return _create_evaluation_spec(model, loss, get_eval_metric_ops_fn)
            if SummaryType.VARIABLES in kinds:
                _add_variable_summaries("generator_variables", model.generator_variables)
                _add_variable_summaries("discriminator_variables", model.discriminator_variables)
            train_ops = training.gan_train_ops(
                model,
                loss,
                _create_optimizer(generator_optimizer),
                _create_optimizer(discriminator_optimizer),
            )
            return _create_training_spec(loss, train_ops, get_hooks_fn)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _add_variable_summaries(scope: str, variables: Sequence[tf.Variable]) -> None:
    with tf.name_scope(scope):
        for variable in variables:
            # The tag ends with _0: the name contains the output number, and ":" is not allowed.
            _v1.summary.histogram(variable.name.replace(":", "_"), variable)


def _create_training_spec(
    loss: GANLoss,
    train_ops: GANTrainOps,
    get_hooks_fn: Callable[..., Any] | None,
) -> v1.EstimatorSpec:
    return v1.EstimatorSpec(
        v1.ModeKeys.TRAIN,
        loss=loss.discriminator_loss,
        train_op=train_ops.global_step_inc_op,
        training_hooks=(get_hooks_fn or training.get_sequential_train_hooks())(train_ops),
    )


def _create_evaluation_spec(
    model: GANModel,
    loss: GANLoss,
    get_eval_metric_ops_fn: Callable[..., Any] | None,
) -> v1.EstimatorSpec:
    with tf.name_scope("metrics"):
        metrics = {
            "generator_loss": _v1.metrics.mean(loss.generator_loss),
            "discriminator_loss": _v1.metrics.mean(loss.discriminator_loss),
        }
        if get_eval_metric_ops_fn is not None:
            metrics.update(get_eval_metric_ops_fn(model))
    return v1.EstimatorSpec(
        v1.ModeKeys.EVAL,
        predictions=model.generated_data,
        loss=loss.discriminator_loss,
        eval_metric_ops=metrics,
    )


def _bind_mode(function: Callable[..., Any], mode: str) -> Callable[..., Any]:
    if "mode" not in inspect.signature(function).parameters:
        return function
    return lambda *arguments: function(*arguments, mode=mode)


def _create_optimizer(optimizer: Optimizer | Callable[[], Optimizer]) -> Optimizer:
    return optimizer() if callable(optimizer) else optimizer
