"""Trains on Fashion-MNIST with several devices, and prints examples per second and step times.

    python examples/fashion_devices.py DATA_DIR runs/fashion --replicas=2

DATA_DIR contains the four files of Fashion-MNIST. Without GPUs the replicas are virtual CPUs.
"""

import argparse

import tensorflow as tf
import tf_keras

import estimator_train as est
import input_fns


def build() -> tf_keras.Model:
    """Returns a small ConvNet."""
    layers = tf_keras.layers
    model = tf_keras.Sequential(
        [
            layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def choose_devices(replicas: int) -> list[str]:
    """Returns GPUs if there are enough, otherwise virtual CPUs."""
    if len(tf.config.list_physical_devices("GPU")) >= replicas:
        return [f"/gpu:{number}" for number in range(replicas)]
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * replicas
    )
    return [f"/cpu:{number}" for number in range(replicas)]


def main() -> None:
    """Trains, and prints the step times and the accuracy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir")
    parser.add_argument("model_dir")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=64, help="examples of all replicas")
    parser.add_argument("--steps", type=int, default=1000)
    flags = parser.parse_args()
    strategy = tf.distribute.MirroredStrategy(choose_devices(flags.replicas))
    config = est.RunConfig(
        flags.model_dir,
        train_distribute=strategy,
        eval_distribute=strategy,
        log_step_count_steps=10,
    )
    estimator = est.keras.model_to_estimator(build(), config=config)
    batch = flags.batch_size // flags.replicas  # The input_fn returns batches for one replica.
    timing = est.hooks.TimeHistory(flags.batch_size)
    estimator.train(
        lambda: input_fns.fashion_mnist(flags.data_dir, "train", batch_size=batch),
        steps=flags.steps,
        hooks=[timing],
    )
    print(timing.report())
    result = estimator.evaluate(
        lambda: input_fns.fashion_mnist(flags.data_dir, "test", batch_size=batch, num_epochs=1)
    )
    print("accuracy", result["accuracy"])


if __name__ == "__main__":
    main()
