"""Examples of `estimator_train.keras`: a section for one or several names."""

import estimator_train as est
import tensorflow as tf
import tf_keras


def build(params=None):
    layers = [tf_keras.layers.Dense(4, "relu", input_shape=(2,)), tf_keras.layers.Dense(1)]
    model = tf_keras.Sequential(layers)
    model.compile("adam", "mse", ["mae"])
    return model


def input_fn():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return tf.data.Dataset.from_tensor_slices((x, [[3.0], [7.0]])).repeat().batch(2)


# %% model_to_estimator
estimator = est.keras.model_to_estimator(build(), model_dir="runs/model")
estimator.train(input_fn, steps=10)
print(sorted(estimator.evaluate(input_fn, steps=1)))  # ['global_step', 'loss', 'mae']

# %% model_fn, load_trained, propose_name_map
model_fn = est.keras.model_fn(build, loss="mse", optimizer="adam", metrics=["mae"])
est.Estimator(model_fn, "runs/built").train(input_fn, steps=10)
model = est.keras.load_trained(build(), "runs/built")
model.save("trained.keras")
print(est.keras.propose_name_map(model, "runs/built"))  # Which variable is which.

# %% estimator_from_fit
model = build()
model.fit(input_fn(), steps_per_epoch=10, verbose=0)
estimator = est.keras.estimator_from_fit(model, "runs/fit")
estimator.train(input_fn, steps=10)  # Continues with the state of the optimizer.

# %% make_or_restore
model = est.keras.make_or_restore(build, "runs/saved")
