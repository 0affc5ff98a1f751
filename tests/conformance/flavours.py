"""The flavours of estimator_train, as the recorded jobs take them."""

from jobs import Api


def ours() -> dict[str, Api]:
    import tf_keras

    import estimator_train
    import estimator_train.compat.v1

    v1 = estimator_train.compat.v1
    return {
        "v2": Api(
            "v2",
            estimator_train,
            tf_keras,
            lambda *a, **k: estimator_train.keras.model_to_estimator(*a, **k),
        ),
        "v1": Api("v1", v1, tf_keras, lambda *a, **k: v1.keras.model_to_estimator(*a, **k)),
    }
