"""estimator_train as the recorded jobs take it."""

import tf_keras
from jobs import Api

import estimator_train

OURS = Api("v2", estimator_train, tf_keras, estimator_train.keras.model_to_estimator)
