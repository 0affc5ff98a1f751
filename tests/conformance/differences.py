"""Questions that estimator_train deliberately answers in another way than tf.estimator, and why.

`our_answers.json` holds our answer to each question; `record_differences.py` writes that file and
the table in docs/migrating.md.
"""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).with_name("our_answers.json")
# Our answer to a question that is answered without an error, by other numbers each time.
VARIES = "varies"
VARYING = {
    "v1 KMeans.initial_clusters: function of too many",  # Six centers for two clusters.
    # A point is its cluster's center, and rounding decides about its distance from it.
    "pairs of clusters v1 doubles squared_euclidean full dict tolerance no seed",
}
GOLDENS = ("breadth", "breadth_v1_behaviour")


class Difference(NamedTuple):
    """A kind of questions with different answers.

    Attributes:
      given: What the program gives.
      original: What tf.estimator does.
      ours: What estimator_train does.
      patterns: Patterns (fnmatch) of the questions.
    """

    given: str
    original: str
    ours: str
    patterns: tuple[str, ...]


_REFUSES = "raises an error"
_ACCEPTS = "accepts it"

DIFFERENCES = (
    Difference(
        "a function wrapped by `functools.wraps`",
        "reads the arguments of the wrapper, and raises an error",
        "reads the arguments of the wrapped function",
        ("* wrapped",),
    ),
    Difference(
        "a mapping that is no dict, or keys that are no strings",
        _REFUSES,
        _ACCEPTS,
        (
            *("* MappingProxyType", "* UserDict", "* ChainMap", "* own mapping*", "*: UserDict"),
            "* LinearRegressor.features: a name that is no str",
        ),
    ),
    Difference(
        "an integer of NumPy, a number in a tensor, True for 1",
        _REFUSES,
        "accepts it; a tensor without a value raises RuntimeError or TypeError",
        (
            *("* numpy int32", "* numpy int64", "* tensor", "* tensor of int64"),
            *("* DNNClassifier.hidden_units: True", "* DNNClassifier.hidden_units: a tensor"),
            "* keras.inputs: integers",
        ),
    ),
    Difference(
        "a path object",
        _REFUSES,
        _ACCEPTS,
        (
            *("* Estimator.*(export_dir_base) *Path*", "* Estimator.*(checkpoint_path) *Path*"),
            *("* export: assets: path beside", "* export: checkpoint: pathlib"),
            "* keras.keras_model_path: pathlib",
        ),
    ),
    Difference(
        "a generator or an iterator of exporters, heads, columns or hidden units",
        "loses its elements after the first reading",
        "reads it once and keeps the elements",
        (
            *("* EvalSpec(exporters) generator", "* EvalSpec(exporters) iterator"),
            *("* MultiHead(heads) generator", "* MultiHead(heads) iterator"),
            *("* DNNClassifier.hidden_units: generator", "*DNNLinearCombined*: generators"),
            *("* RNNClassifier: *: generator", "* SequentialHeadWrapper: generator"),
            "* *_logit_fn_builder: columns: generator",
        ),
    ),
    Difference("an array of thresholds", _REFUSES, _ACCEPTS, ("* *Head(thresholds) array*",)),
    Difference(
        "a value that both refuse",
        "raises an error of one type",
        "raises an error of another type, often earlier",
        (
            *("* inputs.* float", "* inputs.* numpy float32", "* MultiClassHead(n_classes) *"),
            *("* *Class*(label_vocabulary) None", "* *Classifier(n_classes) *"),
            *("* TPUEstimator: params: a list", "* TPUEstimator: spec: None"),
            *("* keras.metrics: None among them", "* keras.metrics: unknown"),
            *("* keras.metrics: a number", "* keras.optimizer: *, schedule without config"),
            *("* model_to_estimator: outputs: a list", "* model_to_estimator: model: *"),
            "* model_to_estimator: outputs: an instance",
            *("* BinaryClassHead.labels: strings", "* MultiLabelHead.labels: ragged"),
            *("* *Head.weights: too many", "* Head.weight_column: features: *"),
            *("* TPUEstimatorSpec: predictions: of scalars", "* DNNEstimator.head: class"),
            *("* Head.loss_fn: that returns a scalar", "* LinearSDCA: num_table_shards zero"),
            *("* KMeans.initial_clusters: None", "* KMeans.initial_clusters: of another size"),
            *("* KMeans.feature_columns: none of them", "* KMeans.points: three dimensions"),
            *("* KMeans.points: a scalar in batches", "* RNNClassifier: units: None"),
            "* RNNClassifier: units: a number",
        ),
    ),
    Difference(
        "`export_outputs` that have the methods of an output, but not its class",
        _REFUSES,
        _ACCEPTS,
        ("* export_outputs: of no class", "* export_outputs: that delegates"),
    ),
    Difference(
        "an array or a `tf.TensorSpec` as an example of raw receivers",
        "raises AttributeError",
        "accepts it; anything else without a type and a shape raises ValueError",
        ("* raw_serving: *", "* raw_supervised: *"),
    ),
    Difference(
        "functions of a `TPUEstimator` that do not take `params`",
        _REFUSES,
        "calls them without `params`",
        ("* TPUEstimator: input: *", "* TPUEstimator: model_fn: *"),
    ),
    Difference(
        "`export_to_cpu=False` with `use_tpu=False`",
        "raises an error",
        "exports for the CPU",
        ("* TPUEstimator: export_to_cpu",),
    ),
    Difference(
        "losses, metrics and loss weights in the other forms that Keras accepts",
        _REFUSES,
        "treats them as Keras does",
        (
            *("* keras.loss: partial", "* keras.loss: object", "* keras.loss: capitals"),
            *("* keras.loss: none", "* keras.metrics: a name", "* keras.metrics: a tuple"),
            *("* keras.metrics: partial", "* keras.metrics: object", "* keras.metrics: *lambda*"),
            *("* keras.metrics: instance", "* keras.loss_weights: number"),
            "* keras.loss_weights: tuple",
        ),
    ),
    Difference(
        "weighted metrics, and metrics that layers add",
        "ignores or refuses them",
        "evaluates them",
        ("* keras.weighted_metrics: *", "* keras.layers: own: adds a metric"),
    ),
    Difference(
        "Keras optimizers, layers and models that cannot be rebuilt from their config",
        _REFUSES,
        "trains them",
        (
            *("* keras.optimizer: new, subclass", "* keras.optimizer: new, AdamW"),
            *("* keras.optimizer: new, Lion", "* keras.layers: own: without config"),
            *("* keras.layers: own: popped", "* keras.subclassed: *"),
        ),
    ),
    Difference(
        "sample weights of a Keras model", _REFUSES, "applies them", ("* keras.inputs: weights*",)
    ),
    Difference(
        "an optimizer with weight decay in a Keras model",
        "trains without the decay",
        "applies the decay, as `fit` does",
        ("* keras.optimizer: new, decay*",),
    ),
    Difference(
        "labels of small integer types or in a list, a loss function of all optional arguments, "
        "heads and weight columns that delegate to another",
        _REFUSES,
        _ACCEPTS,
        (
            *("* MultiClassHead.labels: small integers", "* MultiLabelHead.labels: a list"),
            *("* Head.train: optimizer: new", "* Head.weight_column: delegates"),
            *("* Head.loss_fn: with all", "* RNNEstimator.head: delegates"),
            *("* call_logit_fn: a variable", "* call_logit_fn: a dict of variables"),
            "* LinearSDCA: ids in a column",
        ),
    ),
    Difference(
        "example weights that are all zero",
        "reports an `accuracy_baseline` of 0",
        "reports an `accuracy_baseline` of 1",
        ("* BinaryClassHead.weights: zero",),
    ),
    Difference(
        "points and clusters of k-means of any number type, in any iterable, with labels",
        _REFUSES,
        _ACCEPTS,
        (
            *("* KMeans.points: a dict of numbers", "* KMeans.points: doubles"),
            "* KMeans.feature_columns: generator",
            *("* KMeans.points: integers", "* KMeans.points: with labels"),
            *("* KMeans.initial_clusters: doubles", "* KMeans.initial_clusters: integers"),
            *("* KMeans.initial_clusters: a tensor", "* KMeans.initial_clusters: function of *"),
            "pairs of clusters * doubles *",
        ),
    ),
    Difference(
        "units of `RNNClassifier` as floats or strings",
        _REFUSES,
        "converts them to integers",
        ("* RNNClassifier: units: *",),
    ),
    Difference(
        "a point at the same distance from two centers of k-means",
        "chooses one center",
        "may choose the other center",
        ("* KMeans.initial_clusters: partial", "* KMeans.initial_clusters: object"),
    ),
    Difference(
        "mini-batch k-means",
        "updates counts and distances in any order",
        "updates them in a fixed order",
        ("* KMeans: count that is a *", "pairs of clusters * function * mini *"),
    ),
    Difference(
        "new Keras optimizers with canned estimators, v1 optimizers with heads of v2",
        _REFUSES,
        "trains them",
        ("* *LinearEstimator.head: *", "pairs * new *", "pairs v1 DNN *"),
    ),
    Difference(
        "a feature column outside a list, or of a class of the program",
        _REFUSES,
        _ACCEPTS,
        ("* *Classifier.columns: one that is in no list", "* DNNClassifier.columns: own class*"),
    ),
)


def find(name: str) -> Difference | None:
    """Returns the first kind of differences that matches a question."""
    matches = (
        kind
        for kind in DIFFERENCES
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in kind.patterns)
    )
    return next(matches, None)


def our_answers() -> dict[str, dict[str, Any]]:
    """Returns our recorded answers to questions with another answer, by golden file."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8")))


def make_table(answers: dict[str, dict[str, Any]]) -> str:
    """Returns the table of docs/migrating.md."""
    names = {name for found in answers.values() for name in found}
    lines = ["| given | tf.estimator 2.15 | here | questions |", "| --- | --- | --- | ---: |"]
    for kind in DIFFERENCES:
        count = sum(find(name) is kind for name in names)
        lines.append(f"| {kind.given} | {kind.original} | {kind.ours} | {count} |")
    return "\n".join(lines) + "\n"
