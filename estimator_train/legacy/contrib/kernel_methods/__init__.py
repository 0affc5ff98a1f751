"""Stand-in for `tf.contrib.kernel_methods`: linear models of random Fourier features."""

from estimator_train.legacy.contrib.kernel_methods.estimators import KernelLinearClassifier
from estimator_train.legacy.contrib.kernel_methods.losses import sparse_multiclass_hinge_loss
from estimator_train.legacy.contrib.kernel_methods.mappers import RandomFourierFeatureMapper

__all__ = [
    "KernelLinearClassifier",
    "RandomFourierFeatureMapper",
    "sparse_multiclass_hinge_loss",
]
