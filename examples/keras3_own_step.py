"""A Keras 3 model with its own `train_step` as an Estimator: adversarial training.

    python examples/keras3_own_step.py runs/adversarial

Each training step moves the pixels of its pictures in the direction that increases the loss most
(the fast gradient sign method), and then trains on the moved pictures. Keras alone would run this
step in `fit`; as an Estimator it also gets checkpoints, restarts and the sidecar evaluator.
"""

import sys
from collections.abc import Mapping

import keras
import tensorflow as tf

import estimator_train as est
import input_fns

DISTANCE = 0.1  # How far a pixel between 0 and 1 moves.


@keras.saving.register_keras_serializable("examples")
class RobustClassifier(keras.Model):
    """Classifier of 8x8 pictures that is trained on moved pictures."""

    def __init__(self, **arguments: object) -> None:
        super().__init__(**arguments)
        self.layers_in_order = [
            keras.layers.Flatten(),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(10),
        ]

    def call(self, pictures: tf.Tensor) -> tf.Tensor:
        """Returns logits, [batch, 10]."""
        for layer in self.layers_in_order:
            pictures = layer(pictures)
        return pictures

    def train_step(self, data: tuple[tf.Tensor, tf.Tensor]) -> Mapping[str, tf.Tensor]:
        """Trains on one batch; returns the metrics."""
        pictures, labels = data
        with tf.GradientTape() as tape:
            tape.watch(pictures)
            loss = self.compute_loss(y=labels, y_pred=self(pictures, training=True))
        moved = pictures + DISTANCE * tf.sign(tape.gradient(loss, pictures))
        return super().train_step((moved, labels))


def build() -> keras.Model:
    """Returns the compiled model."""
    model = RobustClassifier()
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.003), loss, metrics=["accuracy"])
    return model


def main() -> None:
    """Trains for twenty epochs and prints the accuracy on unmoved test pictures."""
    model_fn = est.keras.model_fn(build)
    estimator = est.Estimator(model_fn, sys.argv[1])
    estimator.train(lambda: input_fns.digits("train", batch_size=32, num_epochs=20))
    results = estimator.evaluate(lambda: input_fns.digits("test", batch_size=32, num_epochs=1))
    print(f"accuracy {results['accuracy']:.3f}")


if __name__ == "__main__":
    main()
