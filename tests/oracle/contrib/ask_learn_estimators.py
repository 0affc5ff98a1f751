"""Questions about the estimators of tf.contrib.learn. Linear models begin with zeros."""

import logging
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, question, signature
from trying import tried

learn = tf.contrib.learn
X = np.sin(np.arange(20)).reshape(10, 2).astype(np.float32)
BINARY = np.array([0, 1] * 5)
THREE = np.arange(10) % 3
NUMBERS = (2 * X[:, 0]).astype(np.float32)
WEIGHTS = np.linspace(0, 2, 10).astype(np.float32)
KINDS = ["LinearClassifier", "LinearRegressor", "DNNClassifier", "DNNRegressor",
         "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor"]  # fmt: skip


def column(name, dimension=1):
    return tf.contrib.layers.real_valued_column(name, dimension)


def both():
    return [column("a"), column("b")]


def input_fn(labels=BINARY):
    def given():
        features = {"a": X[:, :1], "b": X[:, 1:], "w": WEIGHTS[:, None]}
        features = {name: tf.constant(values) for name, values in features.items()}
        return features, tf.constant(labels[:, None])

    return given


def made(kind, **arguments):
    return getattr(learn, kind)(model_dir=tempfile.mkdtemp(), **arguments)


def sorted_text(results):
    return [name + "=" + format(float(value), ".5g") for name, value in sorted(results.items())]


def trained(kind, labels=BINARY, steps=3, **arguments):
    """Variables, results and predictions of a linear model after some steps."""
    model = made(kind, feature_columns=both(), **arguments)
    given = input_fn(labels)
    model.fit(input_fn=given, steps=steps)
    predicted = list(model.predict(input_fn=given))
    return {
        "a": model.get_variable_value("linear/a/weight"),
        "b": model.get_variable_value("linear/b/weight"),
        "bias": model.get_variable_value("linear/bias_weight"),
        "results": sorted_text(model.evaluate(input_fn=given, steps=1)),
        "predicted": predicted,
    }


@question
def linear_classifier():
    return trained("LinearClassifier")


@question
def linear_classifier_of_three():
    return trained("LinearClassifier", THREE, n_classes=3)


@question
def linear_classifier_weighted():
    return trained("LinearClassifier", weight_column_name="w")


@question
def linear_classifier_clipped():
    descent = tf.train.GradientDescentOptimizer(0.1)
    return trained("LinearClassifier", optimizer=descent, gradient_clip_norm=0.01)


@question
def linear_regressor():
    return trained("LinearRegressor", NUMBERS)


@question
def linear_regressor_weighted():
    return trained("LinearRegressor", NUMBERS, weight_column_name="w")


@question
def linear_regressor_descending():
    return trained("LinearRegressor", NUMBERS, optimizer=tf.train.GradientDescentOptimizer(0.1))


@question
def linear_engineered():
    def engineered(features, labels):
        return {"a": 2 * features["a"], "b": features["b"]}, labels

    return trained("LinearRegressor", NUMBERS, feature_engineering_fn=engineered)


@question
def arrays():
    model = made("LinearClassifier", feature_columns=[column("", 2)])
    model.fit(X, BINARY, steps=2)
    return {
        "weight": model.get_variable_value("linear//weight"),
        "results": sorted_text(model.evaluate(X, BINARY, steps=1)),
        "predicted": list(model.predict(X)),
        "by threes": list(model.predict(X, batch_size=3)),
        "classes": list(model.predict_classes(X)),
        "probabilities": np.asarray(list(model.predict_proba(X))),
    }


@question
def outputs():
    model = made("LinearClassifier", feature_columns=both())
    given = input_fn()
    model.fit(input_fn=given, steps=2)
    keys = ["classes", "probabilities", "logits", "logistic"]
    found = next(iter(model.predict(input_fn=given, outputs=keys)))
    return {
        "found": {key: np.asarray(found[key]).tolist() for key in keys}["probabilities"],
        "keys": sorted(found),
        "shapes": [repr(np.shape(found[key])) for key in keys],
        "unknown": tried(lambda: list(model.predict(input_fn=given, outputs=["x"]))),
        "together": model.predict(input_fn=given, as_iterable=False),
        "classes": model.predict_classes(input_fn=given, as_iterable=False),
        "probabilities": model.predict_proba(input_fn=given, as_iterable=False),
    }


@question
def outputs_of_regressor():
    model = made("LinearRegressor", feature_columns=both())
    given = input_fn(NUMBERS)
    model.fit(input_fn=given, steps=2)
    return {
        "scores": list(model.predict_scores(input_fn=given)),
        "together": model.predict_scores(input_fn=given, as_iterable=False),
        "keys": sorted(next(iter(model.predict(input_fn=given, outputs=["scores"])))),
    }


@question
def classes_by_keys():
    names = np.array(["no", "yes", "may", "no", "yes"] * 2)
    model = made(
        "LinearClassifier", feature_columns=both(), n_classes=3, label_keys=["no", "yes", "may"]
    )
    model.fit(input_fn=input_fn(names), steps=2)
    given = input_fn(names)
    return {
        "classes": repr(list(model.predict_classes(input_fn=given))),
        "results": sorted_text(model.evaluate(input_fn=given, steps=1)),
    }


@question
def metrics():
    model = made("LinearClassifier", feature_columns=both())
    model.fit(input_fn=input_fn(), steps=3)
    spec = learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, prediction_key="classes")
    of_probabilities = learn.MetricSpec(tf.metrics.mean, prediction_key="probabilities")
    given = {"mine": spec, "mean": of_probabilities}
    found = model.evaluate(input_fn=input_fn(), steps=1, metrics=given)
    return {"results": sorted_text(found)}


@question
def names_of_deep_results():
    answers = {}
    for kind in KINDS[2:]:
        labels = NUMBERS if "Regressor" in kind else BINARY
        if "Combined" in kind:
            arguments = {"linear_feature_columns": both(), "dnn_feature_columns": both(),
                         "dnn_hidden_units": [3]}  # fmt: skip
        else:
            arguments = {"feature_columns": both(), "hidden_units": [3, 2]}
        model = made(kind, **arguments)
        model.fit(input_fn=input_fn(labels), steps=1)
        results = sorted(model.evaluate(input_fn=input_fn(labels), steps=1))
        predicted = list(model.predict(input_fn=input_fn(labels)))
        shapes = [model.get_variable_value("dnn/hiddenlayer_0/weights").shape,
                  model.get_variable_value("dnn/logits/biases").shape]  # fmt: skip
        answers[kind] = [repr(results), repr(np.shape(predicted)), repr(shapes)]
    return answers


@question
def signatures():
    return {kind: signature(getattr(learn, kind)) for kind in KINDS}


@question
def names_of_variables():
    model = made("LinearRegressor", feature_columns=both())
    model.fit(input_fn=input_fn(NUMBERS), steps=1)
    return {"names": sorted(model.get_variable_names())}


def own(params=None):
    """Returns an estimator of one number, which is trained by plain descent."""

    def model_fn(features, labels, mode, params):
        v = tf.get_variable("v", initializer=1.0)
        predictions = v * features[:, 0]
        if mode == "infer":
            return {"p": predictions}, None, None
        loss = tf.reduce_mean((predictions - labels) ** 2)
        step = tf.train.get_global_step()
        descent = tf.train.GradientDescentOptimizer(params["rate"])
        return {"p": predictions}, loss, descent.minimize(loss, step) if mode == "train" else None

    return learn.Estimator(model_fn, model_dir=tempfile.mkdtemp(), params={"rate": 0.1})


@question
def own_model():
    model = own()
    same = model.fit(X, NUMBERS, steps=3) is model
    return {
        "same": same,
        "v": model.get_variable_value("v"),
        "results": sorted_text(model.evaluate(X, NUMBERS)),
        "by fives": sorted_text(model.evaluate(X, NUMBERS, batch_size=5, steps=2)),
        "predicted": [one["p"] for one in model.predict(X)],
        "together": model.predict(X, as_iterable=False)["p"],
        "on": int(model.partial_fit(X, NUMBERS).get_variable_value("global_step")),
        "to": int(model.fit(X, NUMBERS, max_steps=6).get_variable_value("global_step")),
    }


@question
def own_model_of_arrays():
    made = learn.SKCompat(own())
    spec = learn.MetricSpec(tf.metrics.mean, prediction_key="p")
    same = made.fit(X, NUMBERS, batch_size=10, steps=3) is made
    return {
        "same": same,
        "results": sorted_text(made.score(X, NUMBERS, steps=1, metrics={"m": spec})),
        "predicted": made.predict(X)["p"],
    }


@question
def order_of_arrays():
    """The batches that `fit` reads: in an order of its own, the same in each call."""
    seen = []

    def note(features, labels):
        seen.append([features[:, 0].tolist(), labels.tolist()])
        return np.float32(0)

    def model_fn(features, targets, mode):
        weight = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        read = tf.py_func(note, [features, targets], tf.float32)
        return {}, weight + read, tf.assign_add(tf.train.get_global_step(), 1)

    model = learn.Estimator(model_fn, model_dir=tempfile.mkdtemp())
    rows = np.arange(14, dtype=np.float32).reshape(7, 2)
    model.fit(rows, np.arange(7), batch_size=3, steps=8)
    model.fit(rows, np.arange(7), steps=2)
    return {"seen": [repr(each) for each in seen]}


@question
def classifier_of_arrays():
    inner = made("LinearClassifier", feature_columns=[column("", 2)])
    found = learn.SKCompat(inner).fit(X, BINARY, batch_size=10, steps=2).predict(X)
    return {name: values for name, values in found.items() if name != "logits"}


@question
def regressor_of_arrays():
    inner = made("LinearRegressor", feature_columns=[column("", 2)])
    return learn.SKCompat(inner).fit(X, NUMBERS, batch_size=10, steps=2).predict(X)


@question
def own_model_of_ops():
    def model_fn(features, labels, mode):
        v = tf.get_variable("v", initializer=1.0)
        loss = tf.reduce_mean((v * features["a"] - labels) ** 2)
        descent = tf.train.GradientDescentOptimizer(0.1)
        return learn.ModelFnOps(
            mode,
            {"p": v * features["a"]},
            loss,
            descent.minimize(loss, tf.train.get_global_step()),
            {"mean": tf.metrics.mean(features["a"])},
        )

    model = learn.Estimator(model_fn, model_dir=tempfile.mkdtemp())
    model.fit(input_fn=input_fn(NUMBERS), steps=2)
    results = model.evaluate(input_fn=input_fn(NUMBERS), steps=1)
    return {"v": model.get_variable_value("v"), "results": sorted_text(results)}


@question
def wrong_calls():
    model = own()
    return {
        "untrained": tried(model.evaluate, X, NUMBERS),
        "predict untrained": tried(lambda: list(model.predict(X))),
        "both steps": tried(model.fit, X, NUMBERS, steps=1, max_steps=2),
        "nothing": tried(model.fit, steps=1),
        "nothing to evaluate": tried(model.evaluate),
        "both": tried(model.fit, X, NUMBERS, input_fn=input_fn(), steps=1),
        "one class": tried(lambda: made("LinearClassifier", feature_columns=both(), n_classes=1)),
        "keys of two": tried(
            lambda: made("LinearClassifier", feature_columns=both(), label_keys=["a", "b"])
        ),
    }


@question
def inferred_columns():
    def shown(columns):
        return [repr(sorted(tf.feature_column.make_parse_example_spec([one]).values()))
                for one in columns]  # fmt: skip

    def inferred(x):
        return len(learn.infer_real_valued_columns_from_input(x))

    return {
        "array": inferred(X),
        "one": inferred(X[:, 0]),
        "dict": inferred({"b": X, "a": X}),
        "texts": tried(inferred, np.array([["a"]])),
        "input_fn": len(learn.infer_real_valued_columns_from_input_fn(input_fn())),
    }


@question
def labels_of_a_prediction():
    seen = []

    def model_fn(features, labels, mode):
        shown = labels
        if isinstance(labels, tf.Tensor):
            shown = [str(labels.shape.as_list()), labels.dtype.name, labels.op.type]
        elif isinstance(labels, tf.SparseTensor):
            shown = ["sparse", labels.dtype.name, labels.values.op.type]
        elif isinstance(labels, dict):
            shown = sorted((name, str(one.shape.as_list())) for name, one in labels.items())
        if mode == "infer":
            seen.append(str(shown))
        loss = tf.reduce_sum(tf.layers.dense(features, 1))
        rate = tf.contrib.layers.optimize_loss(
            loss, tf.train.get_global_step(), learning_rate=0.1, optimizer="SGD"
        )
        return features, loss, rate

    directory = tempfile.mkdtemp()
    for labels in (
        lambda: None,
        lambda: tf.zeros([10], tf.int64),
        lambda: {"a": tf.zeros([10, 2]), "b": tf.zeros([10, 3])},
        lambda: tf.SparseTensor([[0, 0]], [1], [10, 2]),
    ):
        model = learn.Estimator(model_fn, directory)
        model.fit(input_fn=lambda given=labels: (tf.constant(X), given()), steps=1)
        list(model.predict(input_fn=lambda: tf.constant(X)))
    model = learn.Estimator(model_fn, directory)
    list(model.predict(input_fn=lambda: tf.constant(X)))
    return {"seen": seen}


@question
def warnings_about_params():
    said = []

    class Keeping(logging.Handler):
        def emit(self, record):
            said.append(record.getMessage())

    def takes_params(features, labels, mode, params):
        raise NotImplementedError

    handler = Keeping()
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    try:
        learn.Estimator(takes_params, tempfile.mkdtemp())
        learn.Estimator(takes_params, tempfile.mkdtemp(), params={})
        made("DNNRegressor", hidden_units=[2], feature_columns=both())
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return {"said": [text.split(" at 0x")[0] for text in said if "params argument" in text]}


if __name__ == "__main__":
    main()
