"""Tuples of `tf.contrib.gan`: a model, its losses and its training operations."""

from typing import Any, NamedTuple


class GANModel(NamedTuple):
    """Generator, discriminator, and the outputs of the discriminator on real and generated data."""

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
    """Losses of the generator and the discriminator."""

    generator_loss: Any
    discriminator_loss: Any


class GANTrainOps(NamedTuple):
    """Training operations of both networks, the operation that counts the step, and hooks."""

    generator_train_op: Any
    discriminator_train_op: Any
    global_step_inc_op: Any
    train_hooks: Any = ()


class GANTrainSteps(NamedTuple):
    """Number of updates of each network in one step."""

    generator_train_steps: int
    discriminator_train_steps: int
