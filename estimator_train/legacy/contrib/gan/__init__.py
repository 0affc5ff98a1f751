"""Stand-in for `tf.contrib.gan`: generative adversarial networks."""

from estimator_train.legacy.contrib.gan import estimator, losses, namedtuples, training
from estimator_train.legacy.contrib.gan.estimator import GANEstimator
from estimator_train.legacy.contrib.gan.namedtuples import (
    GANLoss,
    GANModel,
    GANTrainOps,
    GANTrainSteps,
)
from estimator_train.legacy.contrib.gan.training import (
    RunTrainOpsHook,
    gan_loss,
    gan_model,
    gan_train,
    gan_train_ops,
    get_joint_train_hooks,
    get_sequential_train_hooks,
)

train = training
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
    "namedtuples",
]
