"""Models, losses and training operations of `tf.contrib.gan`."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.legacy.contrib import training
from estimator_train.legacy.contrib.gan import losses

_v1 = tf.compat.v1


class GANModel(NamedTuple):
    """A generator, a discriminator, and the discriminator on real and on generated data."""

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any


class GANLoss(NamedTuple):
    """The two losses."""

    generator_loss: Any
    discriminator_loss: Any


class GANTrainOps(NamedTuple):
    """The two operations of training, that which counts the step, and hooks."""

    generator_train_op: Any
    discriminator_train_op: Any
    global_step_inc_op: Any
    train_hooks: Any = ()


class GANTrainSteps(NamedTuple):
    """How often each is trained within one step."""

    generator_train_steps: int
    discriminator_train_steps: int


def gan_model(
    generator_fn: Callable[..., Any],
    discriminator_fn: Callable[..., Any],
    real_data: Any,
    generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> GANModel:
    """Builds generator and discriminator.

    Args:
      generator_fn: From the generator's input to data.
      discriminator_fn: From data and the generator's input to scores.
      real_data: Real data.
      generator_inputs: The generator's input.
      generator_scope: Scope of the generator's variables.
      discriminator_scope: Scope of the discriminator's variables.
      check_shapes: Whether real and generated data must have one shape.

    Raises:
      ValueError: They have not.
    """
    generator_inputs = tf.nest.map_structure(tf.convert_to_tensor, generator_inputs)
    real_data = tf.convert_to_tensor(real_data)
    with _v1.variable_scope(generator_scope) as entered_generator:
        generated = generator_fn(generator_inputs)
    with _v1.variable_scope(discriminator_scope) as entered_discriminator:
        of_generated = discriminator_fn(generated, generator_inputs)
    with _v1.variable_scope(entered_discriminator, reuse=True):
        of_real = discriminator_fn(real_data, generator_inputs)
    if check_shapes and not generated.shape.is_compatible_with(real_data.shape):
        raise ValueError(
            f"Generator output shape ({generated.shape}) must be the same shape as real data "
            f"({real_data.shape})."
        )
    return GANModel(
        generator_inputs,
        generated,
        _trainable(entered_generator),
        entered_generator,
        generator_fn,
        real_data,
        of_real,
        of_generated,
        _trainable(entered_discriminator),
        entered_discriminator,
        discriminator_fn,
    )


def gan_loss(
    model: GANModel,
    generator_loss_fn: Callable[..., Any] = losses.wasserstein_generator_loss,
    discriminator_loss_fn: Callable[..., Any] = losses.wasserstein_discriminator_loss,
    gradient_penalty_weight: float | None = None,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: float = 1.0,
    gradient_penalty_one_sided: bool = False,
    add_summaries: bool = True,
) -> GANLoss:
    """The losses of both, those of regularizers added.

    Args:
      model: The model.
      generator_loss_fn: From the model to the generator's loss.
      discriminator_loss_fn: The same of the discriminator.
      gradient_penalty_weight: Share of the gradient penalty in the discriminator's loss; None: no.
      gradient_penalty_epsilon: See `wasserstein_gradient_penalty`.
      gradient_penalty_target: The same.
      gradient_penalty_one_sided: The same.
      add_summaries: Whether losses are written to the summaries.
    """
    of_generator = _called(generator_loss_fn, model, add_summaries)
    of_discriminator = _called(discriminator_loss_fn, model, add_summaries)
    if gradient_penalty_weight:
        of_discriminator += gradient_penalty_weight * losses.wasserstein_gradient_penalty(
            model,
            gradient_penalty_epsilon,
            gradient_penalty_target,
            gradient_penalty_one_sided,
            add_summaries,
        )
    regularization = _v1.losses.get_regularization_loss
    return GANLoss(
        of_generator + regularization(model.generator_scope.name),
        of_discriminator + regularization(model.discriminator_scope.name),
    )


def gan_train_ops(
    model: GANModel,
    loss: GANLoss,
    generator_optimizer: Any,
    discriminator_optimizer: Any,
    check_for_unused_update_ops: bool = True,
    is_chief: bool = True,
    **kwargs: Any,
) -> GANTrainOps:
    """The operations of training.

    Args:
      model: The model.
      loss: Its losses.
      generator_optimizer: The generator's optimizer.
      discriminator_optimizer: The discriminator's.
      check_for_unused_update_ops: Not used: update operations of other scopes are left out.
      is_chief: Not used.
      **kwargs: Further arguments of `tf.contrib.training.create_train_op`.
    """
    del check_for_unused_update_ops, is_chief
    step = _v1.train.get_or_create_global_step()
    counted = step.assign_add(1)

    def train_op(of: Any, optimizer: Any, variables: Any, scope: Any) -> Any:
        updates = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS, scope.name)
        arguments = {"global_step": None, "update_ops": updates, **kwargs}
        return training.create_train_op(of, optimizer, variables_to_train=variables, **arguments)

    generator = train_op(
        loss.generator_loss, generator_optimizer, model.generator_variables, model.generator_scope
    )
    discriminator = train_op(
        loss.discriminator_loss,
        discriminator_optimizer,
        model.discriminator_variables,
        model.discriminator_scope,
    )
    return GANTrainOps(generator, discriminator, counted)


class RunTrainOpsHook(tf.compat.v1.train.SessionRunHook):
    """Runs operations some times before each step.

    Args:
      train_ops: The operations.
      train_steps: How often.
    """

    def __init__(self, train_ops: Any, train_steps: int) -> None:
        self._ops = train_ops if isinstance(train_ops, (list, tuple)) else [train_ops]
        self._steps = train_steps

    def before_run(self, run_context: Any) -> None:
        """Runs them."""
        for _ in range(self._steps):
            for operation in self._ops:
                run_context.session.run(operation)


def get_sequential_train_hooks(
    train_steps: GANTrainSteps = GANTrainSteps(1, 1),  # noqa: B008
) -> Callable[[GANTrainOps], list[Any]]:
    """From training operations to hooks that train the generator, then the discriminator.

    Args:
      train_steps: How often each.
    """
    generator_steps, discriminator_steps = train_steps

    def hooks(train_ops: GANTrainOps) -> list[Any]:
        return [
            RunTrainOpsHook(train_ops.generator_train_op, generator_steps),
            RunTrainOpsHook(train_ops.discriminator_train_op, discriminator_steps),
            *train_ops.train_hooks,
        ]

    return hooks


def get_joint_train_hooks(
    train_steps: GANTrainSteps = GANTrainSteps(1, 1),  # noqa: B008
) -> Callable[[GANTrainOps], list[Any]]:
    """From training operations to hooks that train both at a time, as long as both are due."""
    generator_steps, discriminator_steps = train_steps
    both = min(generator_steps, discriminator_steps)

    def hooks(train_ops: GANTrainOps) -> list[Any]:
        joint = tf.group(train_ops.generator_train_op, train_ops.discriminator_train_op)
        further, left = (
            (train_ops.generator_train_op, generator_steps - both)
            if generator_steps > both
            else (train_ops.discriminator_train_op, discriminator_steps - both)
        )
        return [
            RunTrainOpsHook(joint, both),
            RunTrainOpsHook(further, left),
            *train_ops.train_hooks,
        ]

    return hooks


def gan_train(
    train_ops: GANTrainOps,
    logdir: str,
    get_hooks_fn: Callable[[GANTrainOps], Sequence[Any]] | None = None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Sequence[Any] | None = None,
    **arguments: Any,
) -> Any:
    """Trains until a hook stops; see `tf.contrib.training.train` for the arguments."""
    own = (get_hooks_fn or get_sequential_train_hooks())(train_ops)
    where = (logdir, master, is_chief, scaffold)
    all_hooks = [*own, *(hooks or ())]
    return training.train(train_ops.global_step_inc_op, *where, all_hooks, **arguments)


def _called(function: Callable[..., Any], model: GANModel, add_summaries: bool) -> Any:
    takes = "add_summaries" in inspect.signature(function).parameters
    return function(model, add_summaries=add_summaries) if takes else function(model)


def _trainable(scope: Any) -> list[Any]:
    return list(_v1.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES, f"{scope.name}/"))
