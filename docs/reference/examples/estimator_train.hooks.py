"""Examples of `estimator_train.hooks`: a section for one or several names."""

import estimator_train as est
import tensorflow as tf
import tf_keras

model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
model.compile("adam", "mse")
estimator = est.keras.model_to_estimator(model, model_dir="runs/model")


def input_fn():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return tf.data.Dataset.from_tensor_slices((x, [[3.0], [7.0]])).repeat().batch(2)


# %% TimeHistory
hook = est.hooks.TimeHistory(batch_size=2)
estimator.train(input_fn, steps=20, hooks=[hook])
print(hook.report())

# %% ProgressHook
hook = est.hooks.ProgressHook(batch_size=2)
estimator.train(input_fn, steps=20, hooks=[hook])

# %% StepBreakdown
hook = est.hooks.StepBreakdown()
estimator.train(input_fn, steps=200, hooks=[hook])
print(hook.report())

# %% ProfileHook
hook = est.hooks.ProfileHook("5:10", "runs/profile")
estimator.train(input_fn, steps=20, hooks=[hook])

# %% KerasCallbacks
callback = tf_keras.callbacks.ReduceLROnPlateau("loss", patience=1)
hook = est.hooks.KerasCallbacks([callback], steps_per_epoch=10)
estimator.train(input_fn, steps=20, hooks=[hook])
print(hook.history["loss"])

# %% BackupAndRestore
hook = est.hooks.BackupAndRestore("runs/backup", save_freq=10)
estimator.train(input_fn, steps=20, hooks=[hook])
