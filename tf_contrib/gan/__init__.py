"""Stand-in for `tf.contrib.gan`: generative adversarial networks."""

from tf_contrib.gan import estimator, features, losses, namedtuples, training
from tf_contrib.gan.estimator import GANEstimator
from tf_contrib.gan.namedtuples import (
    GANLoss,
    GANModel,
    GANTrainOps,
    GANTrainSteps,
)
from tf_contrib.gan.training import (
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
    "features",
    "gan_loss",
    "gan_model",
    "gan_train",
    "gan_train_ops",
    "get_joint_train_hooks",
    "get_sequential_train_hooks",
    "losses",
    "namedtuples",
]
