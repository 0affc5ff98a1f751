"""Questions about tf.contrib.kernel_methods."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from trying import tried

methods, layers = tf.contrib.kernel_methods, tf.contrib.layers
X = np.sin(np.arange(20)).reshape(10, 2).astype(np.float32)


@question
def mapped():
    mapper = methods.RandomFourierFeatureMapper(2, 4, 3.0, seed=5, name="m")
    other = methods.RandomFourierFeatureMapper(2, 3)
    points = tf.constant(numbers(3, 2))
    return {
        "mapped": mapper.map(points),
        "again": mapper.map(points),
        "other": other.map(points),
        "settings": [mapper.input_dim, mapper.output_dim],
        "name": mapper.name,
        "rank": tried(mapper.map, tf.constant([1.0, 2.0])),
        "size": tried(mapper.map, tf.constant([[1.0, 2.0, 3.0]])),
        "signature": signature(methods.RandomFourierFeatureMapper),
    }


@question
def hinge_loss():
    loss = methods.sparse_multiclass_hinge_loss
    logits = tf.constant(numbers(3, 3, scale=2))
    return {
        "mean": loss(tf.constant([0, 2, 1]), logits),
        "weighted": loss(tf.constant([[0], [2], [1]]), logits, tf.constant([1.0, 0.0, 2.0])),
        "each": loss(tf.constant([0, 1, 1]), logits, reduction="none"),
        "losses": len(tf.get_collection("losses")),
        "dtype": tried(loss, tf.constant([0.0]), logits[:1]),
        "rank": tried(loss, tf.constant([0]), logits[0]),
        "signature": signature(loss),
    }


def classified(count, **arguments):
    """Variables without slots, results and predictions after two steps."""
    column, other = layers.real_valued_column("x", 2), layers.real_valued_column("y", 1)
    mappers = [
        methods.RandomFourierFeatureMapper(2, 4, 3.0, seed=5, name="first"),
        methods.RandomFourierFeatureMapper(2, 3, 1.0, seed=6, name="second"),
    ]

    def given():
        features = {"x": tf.constant(X), "y": tf.constant(X[:, :1])}
        return features, tf.constant((np.arange(10) % count)[:, None])

    made = methods.KernelLinearClassifier(
        [other], tempfile.mkdtemp(), count, kernel_mappers={column: mappers}, **arguments
    )
    made.fit(input_fn=given, steps=2)
    names = [name for name in made.get_variable_names() if "Ftrl" not in name]
    results = made.evaluate(input_fn=given, steps=1)
    predicted = list(made.predict(input_fn=given))
    found = {name: made.get_variable_value(name) for name in names}
    found.update({"result " + name: float(value) for name, value in results.items()})
    for name in predicted[0]:
        found["predicted " + name] = np.array([one[name] for one in predicted])
    found["classes"] = list(made.predict_classes(input_fn=given))
    found["probabilities"] = np.array(list(made.predict_proba(input_fn=given)))
    return found


@question
def classifier_of_two():
    return classified(2)


@question
def classifier_of_three():
    return classified(3, optimizer=tf.train.GradientDescentOptimizer(0.5))


@question
def refusals():
    column = layers.real_valued_column("x", 2)
    mapper = methods.RandomFourierFeatureMapper(2, 4)
    return {
        "nothing": tried(methods.KernelLinearClassifier),
        "no list": tried(lambda: methods.KernelLinearClassifier(kernel_mappers={column: mapper})),
        "signature": signature(methods.KernelLinearClassifier),
    }


if __name__ == "__main__":
    main()
