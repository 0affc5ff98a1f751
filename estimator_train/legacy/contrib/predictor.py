"""`tf.contrib.predictor`: models that stay in memory."""

from estimator_train.predictor import (
    Predictor,
    from_contrib_estimator,
    from_estimator,
    from_saved_model,
)

__all__ = ["Predictor", "from_contrib_estimator", "from_estimator", "from_saved_model"]
