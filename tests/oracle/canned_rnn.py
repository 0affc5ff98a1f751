"""Recurrent estimators, as cases by name: those of steps, which the original can train."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from canned_figures import Case
from jobs import Api

fc = tf.feature_column
SEEDED = ("simple_rnn", "lstm", "gru")
WORDS = [["a", "b", "c", "d"], ["c", "", "", ""], ["b", "a", "", ""], ["d", "d", "a", ""]]
LENGTHS = [4, 1, 2, 3]


def columns() -> list[Any]:
    words = fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b", "c", "d"])
    return [fc.embedding_column(words, 3), fc.sequence_numeric_column("sizes")]


def context_columns() -> list[Any]:
    return [fc.numeric_column("age")]


def features() -> dict[str, Any]:
    sizes = [[0.5 * (step + 1) * (step < n) for step in range(4)] for n in LENGTHS]
    return {
        "words": tf.sparse.from_dense(WORDS),
        "sizes": tf.sparse.from_dense(sizes),
        "age": tf.constant([[0.1], [0.4], [-0.3], [0.9]]),
    }


def of_steps() -> Any:
    """Features, and a label for every step."""
    labels = [[row + step for step in range(n)] + [-1] * (4 - n) for row, n in enumerate(LENGTHS)]
    present = tf.where(tf.constant(labels) >= 0)
    values = tf.gather_nd(tf.constant(labels), present) % 3
    return features(), tf.SparseTensor(present, values, [4, 4])


def of_large_numbers() -> Any:
    """Features, and a number for every step that gives large gradients."""
    return features(), tf.fill([4, 4, 1], 2000.0)


def _classes(api: Api) -> Any:
    return api.estimator.MultiClassHead(3, loss_reduction="sum")


def _numbers(api: Api) -> Any:
    return api.estimator.RegressionHead(loss_reduction="sum")


def _of_steps(head: Any) -> Any:
    """Returns a head of steps, whose class the original does not publish."""
    try:
        home = importlib.import_module("tensorflow_estimator.python.estimator.head.sequential_head")
    except ImportError:
        home = importlib.import_module("estimator_train.heads")
    return home.SequentialHeadWrapper(head, "mask")


def _case(
    *,
    context: bool = False,
    head_of: Callable[[Api], Any] | None = None,
    optimizer_of: Callable[[Api], Any] | None = None,
    input_fn: Callable[[], Any] = of_steps,
    **arguments: Any,
) -> Case:
    def build(api: Api, model_dir: str, config: Any) -> Any:
        kinds = api.estimator.experimental
        if head_of is not None:
            kind, head = kinds.RNNEstimator, {"head": _of_steps(head_of(api))}
        else:
            kind, head = kinds.RNNClassifier, {"n_classes": 3}
        return kind(
            sequence_feature_columns=columns(),
            context_feature_columns=context_columns() if context else None,
            return_sequences=True,
            model_dir=model_dir,
            config=config,
            **head,
            **({"optimizer": optimizer_of(api)} if optimizer_of is not None else {}),
            **arguments,
        )

    return Case(build, input_fn, input_fn, lambda: [*columns(), *context_columns()], eval_steps=1)


CASES = {
    "simple": _case(units=[4]),
    "stacked": _case(units=[4, 3], cell_type="gru", context=True),
    "lstm": _case(units=[4], cell_type="lstm", optimizer="Adam"),
    "estimator": _case(units=[4], head_of=_classes),
    "clipped by name": _case(
        units=[4], head_of=_numbers, optimizer="SGD", input_fn=of_large_numbers
    ),
    "clipped by default": _case(units=[4], head_of=_numbers, input_fn=of_large_numbers),
    "function": _case(
        units=[4],
        head_of=_numbers,
        input_fn=of_large_numbers,
        optimizer_of=lambda api: lambda: api.keras.optimizers.legacy.SGD(1e-5),
    ),
}


def initial_values(cell_type: str, api: Api) -> dict[str, Any]:
    """Returns the initial weights of the network after `set_random_seed` of Keras."""
    with tempfile.TemporaryDirectory() as model_dir:
        api.keras.utils.set_random_seed(3)
        estimator = api.estimator.experimental.RNNClassifier(
            columns(),
            units=[3, 2],
            cell_type=cell_type,
            model_dir=model_dir,
            config=api.estimator.RunConfig(tf_random_seed=1),
        )
        estimator.train(lambda: (features(), tf.constant([0, 1, 0, 1])), steps=1)
        reader = tf.train.load_checkpoint(f"{model_dir}/model.ckpt-0")
        names = sorted(reader.get_variable_to_shape_map())
        return {n: reader.get_tensor(n).tolist() for n in names if n.startswith("rnn_model/")}
