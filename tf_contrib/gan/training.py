"""Functions of `tf.contrib.gan` that build models, losses and training operations."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib import training
from tf_contrib._types import (
    Fetches,
    Nest,
    Optimizer,
    RunContext,
    Scope,
    TensorLike,
)
from tf_contrib.gan import losses
from tf_contrib.gan.namedtuples import (
    GANLoss,
    GANModel,
    GANTrainOps,
    GANTrainSteps,
)

_v1 = tf.compat.v1


def gan_model(
    generator_fn: Callable[..., Any],
    discriminator_fn: Callable[..., Any],
    real_data: TensorLike,
    generator_inputs: Nest,
    generator_scope: Scope = "Generator",
    discriminator_scope: Scope = "Discriminator",
    check_shapes: bool = True,
) -> GANModel:
    """Builds a generator and a discriminator.

    Args:
      generator_fn: Function of the generator's input that returns data.
      discriminator_fn: Function of data and the generator's input that returns scores.
      real_data: Real data.
      generator_inputs: Input of the generator.
      generator_scope: Scope of the generator's variables.
      discriminator_scope: Scope of the discriminator's variables.
      check_shapes: Whether generated data must have the shape of real data.

    Raises:
      ValueError: Generated data have another shape.
    """
    generator_inputs = tf.nest.map_structure(tf.convert_to_tensor, generator_inputs)
    real_data = tf.convert_to_tensor(real_data)
    with _v1.variable_scope(generator_scope) as generator_variable_scope:
        generated = generator_fn(generator_inputs)
    with _v1.variable_scope(discriminator_scope) as discriminator_variable_scope:
        generated_outputs = discriminator_fn(generated, generator_inputs)
    with _v1.variable_scope(discriminator_variable_scope, reuse=True):
        real_outputs = discriminator_fn(real_data, generator_inputs)
    if check_shapes and not generated.shape.is_compatible_with(real_data.shape):
        raise ValueError(
            f"Generator output shape ({generated.shape}) must be the same shape as real data "
            f"({real_data.shape})."
        )
    return GANModel(
        generator_inputs,
        generated,
        _list_trainable(generator_variable_scope),
        generator_variable_scope,
        generator_fn,
        real_data,
        real_outputs,
        generated_outputs,
        _list_trainable(discriminator_variable_scope),
        discriminator_variable_scope,
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
    """Computes the losses of both networks, with their regularization losses.

    Args:
      model: Model.
      generator_loss_fn: Function of the model that returns the generator's loss.
      discriminator_loss_fn: Function of the model that returns the discriminator's loss.
      gradient_penalty_weight: Factor of the gradient penalty in the discriminator's loss; None: no
        penalty.
      gradient_penalty_epsilon: See `wasserstein_gradient_penalty`.
      gradient_penalty_target: See `wasserstein_gradient_penalty`.
      gradient_penalty_one_sided: See `wasserstein_gradient_penalty`.
      add_summaries: Whether to write summaries of the losses.
    """
    generator_loss = _call_loss_fn(generator_loss_fn, model, add_summaries)
    discriminator_loss = _call_loss_fn(discriminator_loss_fn, model, add_summaries)
    if gradient_penalty_weight:
        discriminator_loss += gradient_penalty_weight * losses.wasserstein_gradient_penalty(
            model,
            gradient_penalty_epsilon,
            gradient_penalty_target,
            gradient_penalty_one_sided,
            add_summaries,
        )
    regularization = _v1.losses.get_regularization_loss
    return GANLoss(
        generator_loss + regularization(model.generator_scope.name),
        discriminator_loss + regularization(model.discriminator_scope.name),
    )


def gan_train_ops(
    model: GANModel,
    loss: GANLoss,
    generator_optimizer: Optimizer,
    discriminator_optimizer: Optimizer,
    check_for_unused_update_ops: bool = True,
    is_chief: bool = True,
    **kwargs: Any,
) -> GANTrainOps:
    """Builds the training operations of both networks.

    Args:
      model: Model.
      loss: Losses of the model.
      generator_optimizer: Optimizer of the generator.
      discriminator_optimizer: Optimizer of the discriminator.
      check_for_unused_update_ops: Unused: update operations of other scopes are ignored.
      is_chief: Unused.
      **kwargs: Further arguments of `tf.contrib.training.create_train_op`.
    """
    del check_for_unused_update_ops, is_chief
    step = _v1.train.get_or_create_global_step()
    step_op = step.assign_add(1)

    def train_op(
        name: str,
        of: tf.Tensor,
        optimizer: Optimizer,
        variables: Sequence[tf.Variable],
        scope: tf.compat.v1.VariableScope,
    ) -> tf.Tensor:
        updates = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS, scope.name)
        arguments = {"global_step": None, "update_ops": updates, **kwargs}
        # Checkpoints contain the scope in the names of the optimizer's own variables.
        with tf.name_scope(name):
            return training.create_train_op(
                of, optimizer, variables_to_train=variables, **arguments
            )

    generator = train_op(
        "generator_train",
        loss.generator_loss,
        generator_optimizer,
        model.generator_variables,
        model.generator_scope,
    )
    discriminator = train_op(
        "discriminator_train",
        loss.discriminator_loss,
        discriminator_optimizer,
        model.discriminator_variables,
        model.discriminator_scope,
    )
    return GANTrainOps(generator, discriminator, step_op)


class RunTrainOpsHook(tf.compat.v1.train.SessionRunHook):
    """Hook that runs operations a number of times before each step.

    Args:
      train_ops: Operations.
      train_steps: Number of times.
    """

    def __init__(self, train_ops: Fetches, train_steps: int) -> None:
        self._ops = train_ops if isinstance(train_ops, (list, tuple)) else [train_ops]
        self._steps = train_steps

    def before_run(self, run_context: RunContext) -> None:
        """Runs the operations."""
        for _ in range(self._steps):
            for operation in self._ops:
                run_context.session.run(operation)


def get_sequential_train_hooks(
    train_steps: GANTrainSteps = GANTrainSteps(1, 1),  # noqa: B008
) -> Callable[[GANTrainOps], list[Any]]:
    """Returns a function that creates hooks to train the generator, then the discriminator.

    Args:
      train_steps: Number of updates of each network.
    """
    generator_steps, discriminator_steps = train_steps

    def make_hooks(train_ops: GANTrainOps) -> list[Any]:
        return [
            RunTrainOpsHook(train_ops.generator_train_op, generator_steps),
            RunTrainOpsHook(train_ops.discriminator_train_op, discriminator_steps),
            *train_ops.train_hooks,
        ]

    return make_hooks


def get_joint_train_hooks(
    train_steps: GANTrainSteps = GANTrainSteps(1, 1),  # noqa: B008
) -> Callable[[GANTrainOps], list[Any]]:
    """Returns a function that creates hooks to train both networks in the same session call.

    A hook that runs one network alone follows if that has more updates.

    Args:
      train_steps: Number of updates of each network.
    """
    generator_steps, discriminator_steps = train_steps
    both = min(generator_steps, discriminator_steps)

    def make_hooks(train_ops: GANTrainOps) -> list[Any]:
        joint = tf.group(train_ops.generator_train_op, train_ops.discriminator_train_op)
        other_op, other_steps = (
            (train_ops.generator_train_op, generator_steps - both)
            if generator_steps > both
            else (train_ops.discriminator_train_op, discriminator_steps - both)
        )
        return [
            RunTrainOpsHook(joint, both),
            RunTrainOpsHook(other_op, other_steps),
            *train_ops.train_hooks,
        ]

    return make_hooks


def gan_train(
    train_ops: GANTrainOps,
    logdir: str,
    get_hooks_fn: Callable[[GANTrainOps], Sequence[Any]] | None = None,
    master: str = "",
    is_chief: bool = True,
    scaffold: tf.compat.v1.train.Scaffold | None = None,
    hooks: Sequence[Any] | None = None,
    **arguments: Any,
) -> Any:
    """Trains until a hook stops; see `tf.contrib.training.train` for the arguments."""
    train_hooks = (get_hooks_fn or get_sequential_train_hooks())(train_ops)
    session_arguments = (logdir, master, is_chief, scaffold)
    all_hooks = [*train_hooks, *(hooks or ())]
    return training.train(train_ops.global_step_inc_op, *session_arguments, all_hooks, **arguments)


def _call_loss_fn(function: Callable[..., Any], model: GANModel, add_summaries: bool) -> tf.Tensor:
    has_argument = "add_summaries" in inspect.signature(function).parameters
    return function(model, add_summaries=add_summaries) if has_argument else function(model)


def _list_trainable(scope: tf.compat.v1.VariableScope) -> list[Any]:
    return list(_v1.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES, f"{scope.name}/"))
