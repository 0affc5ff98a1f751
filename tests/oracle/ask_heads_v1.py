"""Questions about the heads of v1 canned estimators, asked through estimators.

The estimators have fixed logits: the logits are the feature x, and nothing is trained.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from ask_heads import BINARY, CLASS_IDS, NAMES, NUMBERS, ONE_LOGIT, THREE_LOGITS, WEIGHTS
from ask_heads_bad_input import answer

v1 = tf.compat.v1
BATCH = 4


class Case(NamedTuple):
    """A canned estimator's arguments for its head, and its input."""

    kind: str
    arguments: dict[str, Any]
    logits: np.ndarray
    labels: np.ndarray


CASES = {
    "binary": Case("classifier", {}, ONE_LOGIT, BINARY),
    "binary weighted": Case("classifier", {"weight_column": "w"}, ONE_LOGIT, BINARY),
    "binary names": Case(
        "classifier",
        {"label_vocabulary": ["cat", "dog"], "loss_reduction": "weighted_mean"},
        ONE_LOGIT,
        NAMES[BINARY],
    ),
    "multi-class": Case("classifier", {"n_classes": 3}, THREE_LOGITS, CLASS_IDS),
    "multi-class weighted": Case(
        "classifier",
        {
            "n_classes": 3,
            "weight_column": "w",
            "label_vocabulary": ["cat", "dog", "owl"],
            "loss_reduction": "weighted_sum_by_nonzero_weights",
        },
        THREE_LOGITS,
        NAMES[CLASS_IDS],
    ),
    "regression": Case("regressor", {"label_dimension": 3}, THREE_LOGITS, NUMBERS),
    "regression weighted": Case(
        "regressor",
        {"weight_column": "w", "loss_reduction": "weighted_sum_over_batch_size"},
        ONE_LOGIT,
        BINARY,
    ),
}
_THREE = {"n_classes": 3}
BAD_CASES = {
    "label too large": Case("classifier", {}, ONE_LOGIT, BINARY + 1),
    "negative label": Case("classifier", {}, ONE_LOGIT, BINARY - 1),
    "class too large": Case("classifier", _THREE, THREE_LOGITS, CLASS_IDS + 1),
    "labels of two columns": Case("classifier", {}, ONE_LOGIT, np.hstack([BINARY, BINARY])),
    "names without vocabulary": Case("classifier", _THREE, THREE_LOGITS, NAMES[CLASS_IDS]),
    "numbers with vocabulary": Case(
        "classifier", {**_THREE, "label_vocabulary": ["a", "b", "c"]}, THREE_LOGITS, CLASS_IDS
    ),
    "unknown name": Case(
        "classifier", {**_THREE, "label_vocabulary": ["a", "b", "c"]}, THREE_LOGITS,
        NAMES[CLASS_IDS],
    ),
    "missing weights": Case("classifier", {"weight_column": "v"}, ONE_LOGIT, BINARY),
    "reduction of v2": Case("classifier", {"loss_reduction": "sum"}, ONE_LOGIT, BINARY),
    "no reduction": Case("regressor", {"loss_reduction": "none"}, ONE_LOGIT, BINARY),
    "short vocabulary": Case(
        "classifier", {**_THREE, "label_vocabulary": ["a", "b"]}, THREE_LOGITS, CLASS_IDS
    ),
    "vocabulary in a string": Case("classifier", {"label_vocabulary": "ab"}, ONE_LOGIT, BINARY),
    "one class": Case("classifier", {"n_classes": 1}, THREE_LOGITS, CLASS_IDS),
    "label_dimension 0": Case("regressor", {"label_dimension": 0}, ONE_LOGIT, BINARY),
}  # fmt: skip


def questions(make: Callable[..., Any], export: Any, run_config: Any) -> dict[str, Any]:
    """Returns all questions by name.

    Args:
        make: Function of a Case, a model directory and a RunConfig that returns its estimator.
        export: Where ServingInputReceiver is.
        run_config: The class RunConfig.
    """

    def estimator(case: Case, directory: str) -> Any:
        return make(case, directory, run_config(save_summary_steps=1))

    def bad(case: Case) -> Any:
        with tempfile.TemporaryDirectory() as directory:
            return answer(lambda: estimator(case, directory).train(_input(case)))

    calls: dict[str, Any] = {
        f"figures of {name}": lambda c=case: _figures(estimator, c, export)
        for name, case in CASES.items()
    }
    return {**calls, **{f"bad: {name}": lambda c=c: bad(c) for name, c in BAD_CASES.items()}}


def linear_of_original(case: Case, directory: str, config: Any) -> Any:
    """Returns a linear model of tf.estimator that multiplies x by the identity."""
    size = case.logits.shape[1]
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.create_global_step()
        for name, value in (("x/weights", np.eye(size)), ("bias_weights", np.zeros(size))):
            v1.get_variable(f"linear/linear_model/{name}", initializer=np.float32(value))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, f"{directory}/model.ckpt", global_step=0)
    kinds = {"classifier": v1.estimator.LinearClassifier, "regressor": v1.estimator.LinearRegressor}
    return kinds[case.kind](
        [tf.feature_column.numeric_column("x", shape=size)],
        model_dir=directory,
        config=config,
        optimizer=v1.train.GradientDescentOptimizer(0.0),
        **case.arguments,
    )


def _figures(estimator: Any, case: Case, export: Any) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        asked = estimator(case, directory)
        asked.train(_input(case))
        evaluation = asked.evaluate(_input(case))
        prediction = next(asked.predict(_input(case)))
        exported = asked.export_saved_model(directory + "/export", _receiver(case, export))
        return {
            "summaries": dict(_summaries(directory)),
            "evaluation": {
                key: [type(value).__name__, float(value)] for key, value in evaluation.items()
            },
            "prediction": {
                key: [str(value.dtype), [_text(item) for item in value.tolist()]]
                for key, value in prediction.items()
            },
            "signatures": _signatures(exported),
        }


def _input(case: Case) -> Callable[[], tf.data.Dataset]:
    rows = ({"x": case.logits, "w": WEIGHTS}, case.labels.tolist())
    return lambda: tf.data.Dataset.from_tensor_slices(rows).batch(BATCH)


def _receiver(case: Case, export: Any) -> Callable[[], Any]:
    def receiver() -> Any:
        examples = v1.placeholder(tf.string, [None])
        spec = {"x": tf.io.FixedLenFeature(case.logits.shape[1:], tf.float32)}
        return export.ServingInputReceiver(tf.io.parse_example(examples, spec), examples)

    return receiver


def _summaries(directory: str) -> Iterator[tuple[str, list[Any]]]:
    """Steps and values of what the head wrote in training."""
    for tag in ("loss", "average_loss"):
        found = []
        for path in Path(directory).glob("events.*"):
            for event in v1.train.summary_iterator(str(path)):
                values = [value for value in event.summary.value if value.tag == tag]
                found += [[event.step, value.simple_value] for value in values]
        yield tag, found


def _signatures(exported: Any) -> Any:
    exported = exported.decode() if isinstance(exported, bytes) else exported
    with tf.Graph().as_default(), v1.Session() as session:
        graph = v1.saved_model.load(session, ["serve"], exported)
    return {
        name: {
            "method": signature.method_name,
            **{
                key: [tf.as_dtype(info.dtype).name, [d.size for d in info.tensor_shape.dim]]
                for key, info in signature.outputs.items()
            },
        }
        for name, signature in graph.signature_def.items()
    }


def _text(item: Any) -> Any:
    return item.decode() if isinstance(item, bytes) else item
