"""The flavours of estimator_train, as the recorded jobs take them."""

import tf_keras
from jobs import Api

import estimator_train.compat.v1
from estimator_train import keras as v2_keras
from estimator_train.compat.v1 import keras as v1_keras


def ours() -> dict[str, Api]:
    v2, v1 = estimator_train, estimator_train.compat.v1
    return {
        "v2": Api("v2", v2, tf_keras, v2_keras.model_to_estimator),
        "v1": Api("v1", v1, tf_keras, v1_keras.model_to_estimator),
    }
