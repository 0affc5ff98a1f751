"""A classifier of short texts on feature columns: hashed words with averaged embeddings.

    python examples/text_columns.py runs/text

The graph splits texts into words, so the exported model takes unsplit texts.
"""

import sys

import numpy as np
import tensorflow as tf

import estimator_train as est

fc = tf.feature_column
GOOD = ["fine", "lovely", "bright", "warm", "clever"]
BAD = ["dull", "awful", "cold", "slow", "clumsy"]
OTHER = ["the", "film", "plot", "was", "and", "rather", "music"]


def make_texts(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns generated reviews, and whether each review is good."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, count)
    lines = []
    for label in labels:
        words = [*random.choice(OTHER, 5), *random.choice(GOOD if label else BAD, 2)]
        random.shuffle(words)
        lines.append(" ".join(words))
    return np.array(lines), labels


def split_words(text: tf.Tensor) -> tf.Tensor:
    """Returns the words of each text, padded with empty words."""
    return tf.strings.split(text).to_tensor("")


def input_fn(seed: int, epochs: int | None) -> tf.data.Dataset:
    """Returns batches of words and labels."""
    data = tf.data.Dataset.from_tensor_slices(make_texts(1000, seed)).repeat(epochs).batch(50)
    return data.map(lambda text, label: ({"words": split_words(text)}, label))


def make_receiver() -> est.export.ServingInputReceiver:
    """Returns a receiver of unsplit texts."""
    text = tf.compat.v1.placeholder(tf.string, [None], "text")
    return est.export.ServingInputReceiver({"words": split_words(text)}, {"text": text})


words = fc.categorical_column_with_hash_bucket("words", 1000)
estimator = est.DNNClassifier(
    hidden_units=[16],
    feature_columns=[fc.embedding_column(words, 8, combiner="mean")],
    optimizer="Adam",
    model_dir=sys.argv[1],
)
estimator.train(lambda: input_fn(0, None), steps=400)
print("accuracy", estimator.evaluate(lambda: input_fn(1, 1))["accuracy"])

path = estimator.export_saved_model(f"{sys.argv[1]}/export", make_receiver)
served = tf.saved_model.load(path).signatures["predict"]
answers = served(text=tf.constant(["the film was lovely", "awful plot and slow music"]))
print("good", *answers["class_ids"].numpy().ravel())
