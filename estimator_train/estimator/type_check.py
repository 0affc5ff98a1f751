"""Whether an argument is an Estimator."""

from typing import Any

from estimator_train.estimator.estimator import Estimator


def check_estimator(estimator: Any) -> None:
    """Refuses what is not an Estimator.

    Args:
      estimator: What a caller gave as one.

    Raises:
      TypeError: It is not an Estimator; with the text of tf.estimator 2.15.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
