"""Questions about classes that Keras 2 has removed: HDF5Matrix and wrappers for scikit-learn."""

import os
import tempfile

import h5py
import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from trying import tried

wrappers = tf.keras.wrappers.scikit_learn
X = numbers(8, 2)
LABELS = np.array([3, 5] * 4)


def matrix(**arguments):
    path = os.path.join(tempfile.mkdtemp(), "x.h5")
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(12.0).reshape(6, 2)
    return tf.keras.utils.HDF5Matrix(path, "x", **arguments)


@question
def matrix_of_some_rows():
    made = matrix(start=1, end=5)
    return {
        "size": [len(made), made.ndim, int(made.size)],
        "shape": list(made.shape),
        "dtype": str(made.dtype),
        "row": made[0],
        "rows": made[1:3],
        "all": made[:],
        "listed": made[[0, 2]],
        "array": made[np.array([1, 2])],
        "after": tried(lambda: made[9]),
        "after slice": tried(lambda: made[3:9]),
        "after list": tried(lambda: made[[7]]),
        "signature": signature(tf.keras.utils.HDF5Matrix),
    }


@question
def matrix_normalized():
    made = matrix(normalizer=lambda rows: rows * 10)
    return {"rows": made[2:4], "all": made[:].shape[0]}


def in_graph(asked):
    """Asks in a graph and session of Keras alone."""
    with tf.Graph().as_default(), tf.Session().as_default():
        return asked()


def classifying(units=2, loss="sparse_categorical_crossentropy", metrics=("accuracy",)):
    ones = tf.keras.initializers.Constant(numbers(2, units))
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(units, "softmax", kernel_initializer=ones, input_shape=(2,)),
        ]
    )
    model.compile(tf.keras.optimizers.SGD(0.1), loss, metrics=list(metrics))
    return model


def regressing():
    ones = tf.keras.initializers.Constant(numbers(2, 1, start=2))
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(1, kernel_initializer=ones, input_shape=(2,))]
    )
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    return model


def classified(labels, **arguments):
    def asked():
        made = wrappers.KerasClassifier(classifying, epochs=2, verbose=0, batch_size=8, **arguments)
        history = made.fit(X, labels, shuffle=False)
        return {
            "losses": [float(one) for one in history.history["loss"]],
            "classes": made.classes_,
            "count": int(made.n_classes_),
            "predicted": made.predict(X),
            "probabilities": made.predict_proba(X),
            "score": float(made.score(X, labels)),
        }

    return in_graph(asked)


@question
def classifier():
    return classified(LABELS)


@question
def classifier_of_columns():
    return classified(LABELS[:, None])


@question
def classifier_of_categories():
    return classified(LABELS, loss="categorical_crossentropy")


@question
def classifier_of_one_hot_rows():
    def asked():
        rows = np.eye(2, dtype=np.float32)[[0, 1] * 4]
        made = wrappers.KerasClassifier(classifying, loss="categorical_crossentropy", verbose=0)
        made.fit(X, rows, epochs=1, batch_size=8)
        return {"classes": made.classes_, "predicted": made.predict(X)}

    return in_graph(asked)


@question
def classifier_without_accuracy():
    def asked():
        made = wrappers.KerasClassifier(classifying, metrics=(), verbose=0)
        made.fit(X, LABELS)
        return {"score": tried(made.score, X, LABELS)}

    return in_graph(asked)


@question
def regressor():
    def asked():
        made = wrappers.KerasRegressor(regressing, epochs=2, verbose=0, batch_size=8)
        made.fit(X, X[:, 0])
        return {"predicted": made.predict(X), "score": float(made.score(X, X[:, 0]))}

    return in_graph(asked)


@question
def parameters():
    made = wrappers.KerasClassifier(classifying, units=2, epochs=3)
    changed = made.set_params(units=4) is made
    return {
        "names": sorted(made.get_params()),
        "units": made.get_params()["units"],
        "changed": changed,
        "filtered": sorted(made.filter_sk_params(classifying, {"loss": "x"})),
        "unknown": tried(lambda: wrappers.KerasClassifier(classifying, foo=3)),
        "unknown later": tried(lambda: made.set_params(foo=3)),
    }


class Built(wrappers.KerasRegressor):
    def __call__(self, rate=0.5):
        return regressing()


class Builder:
    def __call__(self, rate=0.5):
        return regressing()


@question
def other_builders():
    def asked():
        own, given = Built(rate=0.1), wrappers.KerasRegressor(Builder(), rate=0.1)
        own.fit(X, X[:, 0], verbose=0, batch_size=8)
        given.fit(X, X[:, 0], verbose=0, batch_size=8)
        return {"own": own.predict(X), "given": given.predict(X)}

    return in_graph(asked)


if __name__ == "__main__":
    main()
