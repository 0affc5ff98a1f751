"""`tf.contrib.gan.estimator.GANEstimator`."""

import enum
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.gan import training

_v1 = tf.compat.v1


class SummaryType(enum.IntEnum):
    """What is written to the summaries."""

    NONE = 0
    VARIABLES = 1
    IMAGES = 2
    IMAGE_COMPARISON = 3


class GANEstimator(v1.Estimator):
    """An estimator of a generator and a discriminator.

    The input_fn gives the generator's input as features and real data as labels; predictions are
    generated data.

    Args:
      model_dir: The directory.
      generator_fn: From the generator's input, and maybe `mode`, to data.
      discriminator_fn: From data and the generator's input, and maybe `mode`, to scores.
      generator_loss_fn: From a GANModel to the generator's loss.
      discriminator_loss_fn: The same of the discriminator.
      generator_optimizer: The generator's optimizer, or a function that returns it.
      discriminator_optimizer: The discriminator's.
      get_hooks_fn: From GANTrainOps to hooks that run them; by default one after the other.
      get_eval_metric_ops_fn: From a GANModel to metrics.
      add_summaries: A SummaryType, or a list of such; variables are written, images are not.
      use_loss_summaries: Whether losses are written to the summaries.
      config: The configuration.
      warm_start_from: As for `Estimator`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        generator_fn: Callable[..., Any] | None = None,
        discriminator_fn: Callable[..., Any] | None = None,
        generator_loss_fn: Callable[..., Any] | None = None,
        discriminator_loss_fn: Callable[..., Any] | None = None,
        generator_optimizer: Any = None,
        discriminator_optimizer: Any = None,
        get_hooks_fn: Callable[..., Any] | None = None,
        get_eval_metric_ops_fn: Callable[..., Any] | None = None,
        add_summaries: Any = None,
        use_loss_summaries: bool = True,
        config: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        if not callable(generator_fn):
            raise ValueError("generator_fn must be callable.")
        if not callable(discriminator_fn):
            raise ValueError("discriminator_fn must be callable.")
        generator, discriminator = generator_fn, discriminator_fn
        kinds = add_summaries if isinstance(add_summaries, (list, tuple)) else [add_summaries]
        of_loss: dict[str, Any] = {"add_summaries": use_loss_summaries}
        if generator_loss_fn is not None:
            of_loss["generator_loss_fn"] = generator_loss_fn
        if discriminator_loss_fn is not None:
            of_loss["discriminator_loss_fn"] = discriminator_loss_fn

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            make = _with_mode(generator, mode)
            if mode == v1.ModeKeys.PREDICT:
                with _v1.variable_scope("Generator"):
                    return v1.EstimatorSpec(mode, predictions=make(features))
            model = training.gan_model(make, _with_mode(discriminator, mode), labels, features)
            loss = training.gan_loss(model, **of_loss)
            if mode == v1.ModeKeys.EVAL:
                return _evaluation(model, loss, get_eval_metric_ops_fn)
            if SummaryType.VARIABLES in kinds:
                for variable in _v1.trainable_variables():
                    _v1.summary.histogram(variable.op.name, variable)
            operations = training.gan_train_ops(
                model, loss, _made(generator_optimizer), _made(discriminator_optimizer)
            )
            hooks = (get_hooks_fn or training.get_sequential_train_hooks())(operations)
            return v1.EstimatorSpec(
                mode,
                loss=loss.discriminator_loss,
                train_op=operations.global_step_inc_op,
                training_hooks=hooks,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _evaluation(model: Any, loss: Any, get_eval_metric_ops_fn: Any) -> Any:
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


def _with_mode(function: Callable[..., Any], mode: str) -> Callable[..., Any]:
    if "mode" not in inspect.signature(function).parameters:
        return function
    return lambda *arguments: function(*arguments, mode=mode)


def _made(optimizer: Any) -> Any:
    return optimizer() if callable(optimizer) else optimizer
