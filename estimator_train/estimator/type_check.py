"""Check that an argument is an Estimator."""

from estimator_train.estimator.estimator import Estimator


def check_estimator(estimator: object) -> None:
    """Checks that an argument is an Estimator.

    Args:
      estimator: The argument.

    Raises:
      TypeError: It is not an Estimator.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
