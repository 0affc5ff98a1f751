"""`tf.contrib.gan`: generators against discriminators."""

from estimator_train.legacy.contrib.gan import estimator, losses, training
from estimator_train.legacy.contrib.gan.estimator import GANEstimator
from estimator_train.legacy.contrib.gan.training import (
    GANLoss,
    GANModel,
    GANTrainOps,
    GANTrainSteps,
    RunTrainOpsHook,
    gan_loss,
    gan_model,
    gan_train,
    gan_train_ops,
    get_joint_train_hooks,
    get_sequential_train_hooks,
)

namedtuples = train = training
__all__ = [
    "GANEstimator",
    "GANLoss",
    "GANModel",
    "GANTrainOps",
    "GANTrainSteps",
    "RunTrainOpsHook",
    "estimator",
    "gan_loss",
    "gan_model",
    "gan_train",
    "gan_train_ops",
    "get_joint_train_hooks",
    "get_sequential_train_hooks",
    "losses",
]
