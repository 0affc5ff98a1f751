"""Stand-in for `tf.contrib.predictor`: models that stay in memory."""

from estimator_train.predictor import (
    Predictor as Predictor,
    from_contrib_estimator as from_contrib_estimator,
    from_estimator as from_estimator,
    from_saved_model as from_saved_model,
)
