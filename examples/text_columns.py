"""A classifier of short texts on feature columns: words by hash, their embeddings averaged.

    python examples/text_columns.py runs/text

Texts are split into words inside the graph, so that the exported model takes them as they are.
"""

import sys

import numpy as np
import tensorflow as tf

import estimator_train as est

fc = tf.feature_column
GOOD = ["fine", "lovely", "bright", "warm", "clever"]
BAD = ["dull", "awful", "cold", "slow", "clumsy"]
OTHER = ["the", "film", "plot", "was", "and", "rather", "music"]


def texts(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Made-up reviews, and whether each is a good one."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, count)
    lines = []
    for label in labels:
        words = [*random.choice(OTHER, 5), *random.choice(GOOD if label else BAD, 2)]
        random.shuffle(words)
        lines.append(" ".join(words))
    return np.array(lines), labels


def words_of(text: tf.Tensor) -> tf.Tensor:
    """The words of each text, padded by empty ones."""
    return tf.strings.split(text).to_tensor("")


def input_fn(seed: int, epochs: int | None) -> tf.data.Dataset:
    """Batches of words and labels."""
    data = tf.data.Dataset.from_tensor_slices(texts(1000, seed)).repeat(epochs).batch(50)
    return data.map(lambda text, label: ({"words": words_of(text)}, label))


def receiver() -> est.export.ServingInputReceiver:
    """Whole texts, as whoever asks the served model has them."""
    text = tf.compat.v1.placeholder(tf.string, [None], "text")
    return est.export.ServingInputReceiver({"words": words_of(text)}, {"text": text})


words = fc.categorical_column_with_hash_bucket("words", 1000)
estimator = est.DNNClassifier(
    hidden_units=[16],
    feature_columns=[fc.embedding_column(words, 8, combiner="mean")],
    optimizer="Adam",
    model_dir=sys.argv[1],
)
estimator.train(lambda: input_fn(0, None), steps=400)
print("accuracy", estimator.evaluate(lambda: input_fn(1, 1))["accuracy"])

path = estimator.export_saved_model(f"{sys.argv[1]}/export", receiver)
served = tf.saved_model.load(path).signatures["predict"]
answers = served(text=tf.constant(["the film was lovely", "awful plot and slow music"]))
print("good", *answers["class_ids"].numpy().ravel())
