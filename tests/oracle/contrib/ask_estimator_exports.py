"""Questions about input receivers of an input_fn and estimators with annotations of layers."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

estimators = tf.contrib.estimator
receiver_fn = estimators.build_supervised_input_receiver_fn_from_input_fn


def described(input_fn, **options):
    """Returns the names, shapes and types of a receiver."""
    receiver = receiver_fn(input_fn, **options)()

    def text(value):
        if isinstance(value, dict):
            return {key: text(value[key]) for key in sorted(value)}
        return [value.name, value.dtype.name, str(value.shape).replace("?", "None")]

    return {
        "kind": type(receiver).__name__,
        "features": str(text(receiver.features)),
        "labels": str(text(receiver.labels)),
        "receivers": str(text(receiver.receiver_tensors)),
    }


def examples():
    features = {"a": numbers(4, 2), "b": np.array(["x", "y", "x", "z"])}
    return tf.data.Dataset.from_tensor_slices((features, np.array([0, 1, 1, 0]))).batch(2)


@question
def signatures():
    names = "build_supervised_input_receiver_fn_from_input_fn DNNClassifierWithLayerAnnotations "
    names += "DNNRegressorWithLayerAnnotations"
    return {name: signature(getattr(estimators, name)) for name in names.split()}


@question
def receiver_of_a_dataset():
    return described(examples)


@question
def receiver_of_tensors():
    return described(lambda: ({"a": tf.ones([3, 2])}, tf.ones([3, 1])))


@question
def receiver_of_one_tensor():
    return described(lambda: (tf.ones([3, 2]), tf.ones([3])))


@question
def receiver_of_several_labels():
    return described(lambda: (tf.ones([3, 2]), {"l": tf.ones([3]), "m": tf.zeros([3])}))


@question
def receiver_of_scalars():
    return described(lambda: [tf.constant(1.0), tf.constant(2.0)])


@question
def receiver_of_arguments():
    return described(lambda size, mode: (tf.ones([size, 2]), tf.constant(mode)), size=7, mode="m")


@question
def receiver_of_sparse_features():
    sparse = lambda: {"s": tf.SparseTensor([[0, 0]], [1], [3, 4])}  # noqa: E731
    return described(lambda: (sparse(), tf.ones([3])))


@question
def receiver_without_labels():
    try:
        return described(lambda: {"a": tf.ones([3, 2])})
    except AttributeError:
        return {"error": "AttributeError or a subclass"}


@question
def receiver_of_equal_names():
    return described(lambda: ({"a": tf.ones([3, 2])}, {"a": tf.ones([3])}))


@question
def calls_of_the_input_fn():
    calls = []

    def input_fn():
        calls.append(tf.get_default_graph())
        return tf.ones([2, 1]), tf.ones([2, 1])

    build = receiver_fn(input_fn)
    before = len(calls)
    build()
    build()
    return {"calls": [before, len(calls)], "own": calls[0] is not tf.get_default_graph()}


def trained(kind, columns, labels, **options):
    """Returns what a model learns in a few steps from constant weights."""

    def input_fn():
        features = {"a": numbers(4, 2), "b": np.array([["x"], ["y"], ["x"], ["z"]])}
        return tf.data.Dataset.from_tensors((features, labels)).repeat()

    directory = tempfile.mkdtemp()
    config = tf.estimator.RunConfig(directory, tf_random_seed=1)
    model = getattr(estimators, kind)([3, 2], columns, config=config, **options)
    model.train(input_fn, steps=2)
    results = model.evaluate(input_fn, steps=1)
    shapes = {name: list(model.get_variable_value(name).shape) for name in sorted(names(model))}
    predictions = next(iter(model.predict(input_fn)))
    return {
        "names": str(shapes),
        "metrics": sorted(results),
        "predictions": sorted(predictions),
        "estimator": isinstance(model, tf.estimator.Estimator),
        "step": int(results["global_step"]),
    }


def names(model):
    return [name for name in model.get_variable_names() if "Adagrad" not in name]


def columns():
    words = tf.feature_column.categorical_column_with_vocabulary_list("b", ["x", "y"])
    return [
        tf.feature_column.numeric_column("a", shape=[2]),
        tf.feature_column.embedding_column(words, 2),
    ]


@question
def classifier():
    return trained(
        "DNNClassifierWithLayerAnnotations", columns(), np.array([0, 1, 2, 0]), n_classes=3
    )


@question
def regressor():
    return trained("DNNRegressorWithLayerAnnotations", columns(), np.array([0.0, 1.0, 2.0, 0.5]))


@question
def classifier_of_one_class():
    return {"model": estimators.DNNClassifierWithLayerAnnotations([2], columns(), n_classes=1)}


@question
def export_that_trains():
    """The graph of a training, exported with such a receiver."""
    labels = np.array([0, 1, 1, 0])
    features = {"a": numbers(4, 2), "b": np.array([["x"], ["y"], ["x"], ["z"]])}
    input_fn = lambda: tf.data.Dataset.from_tensors((features, labels)).repeat()  # noqa: E731
    model = estimators.DNNClassifierWithLayerAnnotations([2], columns(), tempfile.mkdtemp())
    model.train(input_fn, steps=1)
    path = model.experimental_export_all_saved_models(
        tempfile.mkdtemp(), {tf.estimator.ModeKeys.TRAIN: receiver_fn(input_fn)}
    )
    with tf.Graph().as_default(), tf.Session() as session:
        graph = tf.saved_model.loader.load(session, ["train"], path.decode())
        signature = graph.signature_def["train"]
        return {
            "inputs": str(sorted(signature.inputs)),
            "names": str(sorted(signature.inputs[key].name for key in signature.inputs)),
        }


if __name__ == "__main__":
    main()
