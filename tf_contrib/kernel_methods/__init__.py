"""Stand-in for `tf.contrib.kernel_methods`: linear models of random Fourier features."""

from tf_contrib.kernel_methods.estimators import KernelLinearClassifier
from tf_contrib.kernel_methods.losses import sparse_multiclass_hinge_loss
from tf_contrib.kernel_methods.mappers import RandomFourierFeatureMapper

__all__ = [
    "KernelLinearClassifier",
    "RandomFourierFeatureMapper",
    "sparse_multiclass_hinge_loss",
]
