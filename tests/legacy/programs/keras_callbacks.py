# Keras under MirroredStrategy with the callbacks of the guide, then saving and loading.
import os

import numpy as np
import tensorflow as tf

work_dir = os.environ["WORK_DIR"]
strategy = tf.distribute.MirroredStrategy(devices=["/cpu:0"])
rng = np.random.RandomState(1)
x = rng.rand(128, 4).astype("float32")
y = (x.sum(axis=1) > 2).astype("int64")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(8, activation="relu", input_shape=(4,)),
            tf.keras.layers.Dense(2),
        ]
    )
    model.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=tf.keras.optimizers.Adam(),
        metrics=["accuracy"],
    )

checkpoint_dir = os.path.join(work_dir, "training_checkpoints")
checkpoint_prefix = os.path.join(checkpoint_dir, "ckpt_{epoch}")


def decay(epoch):
    if epoch < 2:
        return 1e-2
    return 1e-3


class PrintLR(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("epoch %d lr %.4f" % (epoch + 1, self.model.optimizer.lr.numpy()))


callbacks = [
    tf.keras.callbacks.TensorBoard(log_dir=os.path.join(work_dir, "logs")),
    tf.keras.callbacks.ModelCheckpoint(filepath=checkpoint_prefix, save_weights_only=True),
    tf.keras.callbacks.LearningRateScheduler(decay),
    PrintLR(),
]
model.fit(dataset, epochs=3, callbacks=callbacks, verbose=0)
model.load_weights(tf.train.latest_checkpoint(checkpoint_dir))
eval_loss, eval_acc = model.evaluate(dataset, verbose=0)

path = os.path.join(work_dir, "my_model.keras")
model.save(path)
unreplicated_model = tf.keras.models.load_model(path)
unreplicated_loss, _ = unreplicated_model.evaluate(dataset, verbose=0)
with strategy.scope():
    replicated_model = tf.keras.models.load_model(path)
    replicated_loss, _ = replicated_model.evaluate(dataset, verbose=0)
print("same", np.allclose([unreplicated_loss, replicated_loss], eval_loss, atol=1e-5))
print("accuracy", eval_acc, os.path.isdir(os.path.join(work_dir, "logs", "train")))
