# Keras on several devices: make or restore, checkpoints by epoch.
import os
import sys

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
checkpoint_dir = os.path.join(os.environ["WORK_DIR"], "ckpt")
if not os.path.exists(checkpoint_dir):
    os.makedirs(checkpoint_dir)


def get_compiled_model():
    inputs = tf.keras.Input(shape=(8,))
    x = tf.keras.layers.Dense(16, activation="relu")(inputs)
    outputs = tf.keras.layers.Dense(3)(x)
    model = tf.keras.Model(inputs, outputs)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.01),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[tf.keras.metrics.SparseCategoricalAccuracy()],
    )
    return model


def make_or_restore_model():
    checkpoints = [checkpoint_dir + "/" + name for name in os.listdir(checkpoint_dir)]
    if checkpoints:
        latest_checkpoint = max(checkpoints, key=os.path.getctime)
        print("Restoring from", os.path.basename(latest_checkpoint))
        return tf.keras.models.load_model(latest_checkpoint)
    print("Creating a new model")
    return get_compiled_model()


def get_dataset(batch_size=16):
    rng = np.random.RandomState(0)
    x = rng.rand(320, 8).astype("float32")
    y = np.argmax(x[:, :3], axis=1)
    train = tf.data.Dataset.from_tensor_slices((x[:256], y[:256])).batch(batch_size)
    val = tf.data.Dataset.from_tensor_slices((x[256:], y[256:])).batch(batch_size)
    return train, val


def run_training(epochs=1):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    print(f"Number of devices: {strategy.num_replicas_in_sync}")
    with strategy.scope():
        model = make_or_restore_model()
    callbacks = [
        tf.keras.callbacks.ModelCheckpoint(
            filepath=checkpoint_dir + "/ckpt-{epoch}", save_freq="epoch"
        )
    ]
    train_dataset, val_dataset = get_dataset()
    history = model.fit(
        train_dataset, epochs=epochs, callbacks=callbacks, validation_data=val_dataset, verbose=0
    )
    return model, history


for epochs in (2, 1):
    model, history = run_training(epochs=epochs)
    print("loss", history.history["loss"][0], history.history["loss"][-1])
    print("val", history.history["val_sparse_categorical_accuracy"][-1])
print(sorted(os.listdir(checkpoint_dir)))
sys.exit(0)
