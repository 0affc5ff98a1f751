"""Questions about what estimators of tf.contrib.learn write: checkpoints, events, SavedModels."""

import glob
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, question

learn, layers = tf.contrib.learn, tf.contrib.layers
ROWS = [[row, 0] for row in range(8)]
WORDS = [["x", "y", "z"][row % 3] for row in range(8)]


def input_fn():
    numbers = np.arange(8, dtype=np.float32).reshape(8, 1)
    features = {
        "a": tf.constant(numbers),
        "b": tf.constant(np.concatenate([numbers, -numbers], 1)),
        "w": tf.SparseTensor(ROWS, WORDS, [8, 1]),
        "v": tf.SparseTensor(ROWS, WORDS, [8, 1]),
    }
    return features, tf.constant(np.arange(8).reshape(8, 1) % 2)


def one():
    return [layers.real_valued_column("a")]


def sparse():
    hashed = layers.sparse_column_with_hash_bucket("w", 5)
    keys = layers.sparse_column_with_keys("v", ["x", "y", "z"])
    return [hashed, keys, layers.crossed_column([hashed, keys], 7)]


def wide():
    bucketized = layers.bucketized_column(one()[0], [1.0, 3.0])
    return [*one(), layers.real_valued_column("b", 2), bucketized, *sparse()]


def deep():
    hashed, keys, _ = sparse()
    dense = [layers.embedding_column(hashed, 2), layers.one_hot_column(keys)]
    return [*one(), layers.real_valued_column("b", 2), *dense]


def variables_of(kind, **arguments):
    """Returns the names and shapes of the variables after a step."""
    model = getattr(learn, kind)(model_dir=tempfile.mkdtemp(), **arguments)
    model.fit(input_fn=input_fn, steps=1)
    return {"found": repr([(name, list(shape)) for name, shape in listed(model)])}


def listed(model):
    return sorted(tf.train.list_variables(model.model_dir))


@question
def linear_classifier():
    return variables_of("LinearClassifier", feature_columns=wide())


@question
def linear_classifier_of_three():
    return variables_of("LinearClassifier", feature_columns=wide(), n_classes=3)


@question
def joint_linear_classifier():
    return variables_of("LinearClassifier", feature_columns=sparse(), _joint_weight=True)


@question
def linear_regressor_with_centered_bias():
    return variables_of("LinearRegressor", feature_columns=wide(), enable_centered_bias=True)


@question
def linear_regressor_by_adam():
    return variables_of("LinearRegressor", feature_columns=one(), optimizer="Adam")


@question
def linear_classifier_of_a_clipped_descent():
    descent = tf.train.GradientDescentOptimizer(0.1)
    return variables_of(
        "LinearClassifier", feature_columns=one(), gradient_clip_norm=1.0, optimizer=descent
    )


@question
def deep_classifier():
    return variables_of("DNNClassifier", feature_columns=deep(), hidden_units=[4, 3])


@question
def deep_classifier_of_three_with_centered_bias():
    return variables_of(
        "DNNClassifier",
        feature_columns=deep(),
        hidden_units=[4],
        n_classes=3,
        enable_centered_bias=True,
    )


@question
def deep_regressor_by_adam():
    return variables_of(
        "DNNRegressor", feature_columns=deep(), hidden_units=[4], optimizer="Adam", dropout=0.5
    )


@question
def combined_classifier():
    return variables_of(
        "DNNLinearCombinedClassifier",
        linear_feature_columns=wide(),
        dnn_feature_columns=deep(),
        dnn_hidden_units=[4],
    )


@question
def combined_regressor():
    return variables_of(
        "DNNLinearCombinedRegressor",
        linear_feature_columns=wide(),
        dnn_feature_columns=deep(),
        dnn_hidden_units=[4],
        linear_optimizer=tf.train.GradientDescentOptimizer(0.1),
        fix_global_step_increment_bug=True,
    )


@question
def deep_estimator_with_a_head():
    head = learn.multi_label_head(2, head_name="mine")
    model = learn.DNNEstimator(head, [3], one(), tempfile.mkdtemp())

    def two():
        features, labels = input_fn()
        return features, tf.concat([labels, 1 - labels], 1)

    model.fit(input_fn=two, steps=1)
    return {"found": repr(listed(model)), "results": repr(sorted(evaluated(model, two)))}


@question
def linear_estimator_with_two_heads():
    heads = [
        learn.regression_head(label_name="x", head_name="one"),
        learn.multi_class_head(2, label_name="y", head_name="two"),
    ]

    def two():
        features, labels = input_fn()
        return features, {"x": tf.cast(labels, tf.float32), "y": labels}

    model = learn.LinearEstimator(one(), learn.multi_head(heads), tempfile.mkdtemp())
    model.fit(input_fn=two, steps=2)
    predicted = next(iter(model.predict(input_fn=two)))
    return {
        "found": repr(listed(model)),
        "results": repr(sorted(evaluated(model, two))),
        "loss": evaluated(model, two)["loss"],
        "predicted": repr(sorted(predicted)),
        "one": signatures_of(model, "one"),
        "two": signatures_of(model, "two"),
    }


@question
def combined_estimator():
    model = learn.DNNLinearCombinedEstimator(
        learn.poisson_regression_head(),
        tempfile.mkdtemp(),
        dnn_feature_columns=one(),
        dnn_hidden_units=[2],
        embedding_lr_multipliers={},
    )

    def counts():
        features, labels = input_fn()
        return features, tf.cast(labels, tf.float32)

    model.fit(input_fn=counts, steps=4)
    return {"found": repr(listed(model))}


def evaluated(model, read=input_fn):
    return model.evaluate(input_fn=read, steps=2)


def signatures_of(model, key=None):
    """Returns the signatures of a SavedModel, with the default one first."""
    spec = layers.create_feature_spec_for_parsing(one())
    read = learn.build_parsing_serving_input_fn(spec)
    path = model.export_savedmodel(
        tempfile.mkdtemp(), serving_input_fn=read, default_output_alternative_key=key
    )
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], path)
    parts = [
        (name, one.method_name, sorted(one.inputs), sorted(one.outputs))
        for name, one in loaded.signature_def.items()
    ]
    return repr(sorted(parts))


def written_by(model):
    """Returns the tags of events of a training and an evaluation, and the signatures."""
    model.fit(input_fn=input_fn, steps=2)
    evaluated(model)
    return {
        "trained": tags(model.model_dir),
        "evaluated": tags(model.model_dir + "/eval"),
        "signatures": signatures_of(model),
    }


def tags(directory):
    found = set()
    for path in glob.glob(directory + "/events*"):
        for event in tf.train.summary_iterator(path):
            found |= {value.tag for value in event.summary.value}
    return repr(sorted(found - {"checkpoint_path"}))


@question
def written_by_a_linear_classifier():
    return written_by(learn.LinearClassifier(one(), tempfile.mkdtemp()))


@question
def written_by_a_deep_classifier_of_three():
    return written_by(learn.DNNClassifier([4, 3], one(), tempfile.mkdtemp(), n_classes=3))


@question
def written_by_a_deep_regressor():
    return written_by(learn.DNNRegressor([4], one(), tempfile.mkdtemp()))


@question
def written_by_a_combined_classifier():
    model = learn.DNNLinearCombinedClassifier(
        tempfile.mkdtemp(),
        linear_feature_columns=one(),
        dnn_feature_columns=one(),
        dnn_hidden_units=[4],
    )
    return written_by(model)


@question
def steps_of_a_combined_classifier():
    """Each part counts the steps, unless it is told to count them once."""
    found = {}
    for counts_once in (False, True):
        model = learn.DNNLinearCombinedClassifier(
            tempfile.mkdtemp(),
            linear_feature_columns=one(),
            dnn_feature_columns=one(),
            dnn_hidden_units=[4],
            fix_global_step_increment_bug=counts_once,
        )
        model.fit(input_fn=input_fn, steps=5)
        rates = ["dnn", "linear"]
        name = "binary_logistic_head/{}/learning_rate"
        found[str(counts_once)] = int(model.get_variable_value("global_step"))
        found["rates"] = [float(model.get_variable_value(name.format(part))) for part in rates]
    return found


if __name__ == "__main__":
    main()
