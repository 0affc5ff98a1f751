"""How many entries model_fns of canned estimators and heads add to each collection of a graph."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import ask_heads
import canned_cases
import canned_cases_v1
import canned_kmeans
import canned_rnn
import canned_sdca
import tensorflow as tf
from canned_figures import Case
from graph_collections import Sizes, added, sizes
from jobs import Api

v1 = tf.compat.v1
MODES = ("train", "eval", "infer")


def questions(apis: dict[str, Api]) -> dict[str, Callable[[], Sizes]]:
    """Returns all questions by name.

    Args:
        apis: The APIs of both generations, by "v1" and "v2".
    """
    calls: dict[str, Callable[[], Sizes]] = {}
    for mode in MODES:
        for generation, cases in canned_cases_by_generation().items():
            for name, case in cases.items():
                calls[f"{generation} {name}, {mode}"] = lambda a=apis[generation], c=case, m=mode: (
                    _sizes_of_estimator(c, a, m)
                )
        several = ask_heads.Case(
            lambda heads: ask_heads.several(heads, None),
            ask_heads.SEVERAL_LOGITS,
            ask_heads.SEVERAL_LABELS,
        )
        for name, head_case in {**ask_heads.CASES, "several": several}.items():
            calls[f"head {name}, {mode}"] = lambda c=head_case, m=mode, n=name: _sizes_of_head(
                c, apis["v2"], m, regularized="weighted" in n
            )
    return calls


def canned_cases_by_generation() -> dict[str, dict[str, Case]]:
    sdca = {f"sdca {name}": _sdca_case(*case) for name, case in canned_sdca.CASES.items()}
    rnn = {f"rnn {name}": case for name, case in canned_rnn.CASES.items()}
    kmeans = {f"k-means {name}": case for name, case in canned_kmeans.CASES.items()}
    return {
        "v2": {**canned_cases.CASES, **sdca, **rnn},
        "v1": {**canned_cases_v1.CASES, **sdca, **kmeans},
    }


def _sdca_case(kind: str, label: str, settings: dict[str, Any]) -> Case:
    def build(api: Api, model_dir: str, config: Any) -> Any:
        return getattr(api.estimator, kind)(
            canned_sdca.columns(),
            model_dir=model_dir,
            config=config,
            weight_column="weight",
            optimizer=api.estimator.experimental.LinearSDCA("id", **settings),
        )

    return Case(
        build, canned_sdca.input_fn(label), canned_sdca.input_fn(label), canned_sdca.columns
    )


def _sizes_of_estimator(case: Case, api: Api, mode: str) -> Sizes:
    """Returns the sizes of collections after a call of the estimator's model_fn."""
    before: Sizes = {}
    with tempfile.TemporaryDirectory() as model_dir, tf.Graph().as_default() as graph:
        make_spec(case, api, mode, model_dir, lambda: before.update(sizes(graph)))
        return added(before, sizes(graph))


def make_spec(
    case: Case, api: Api, mode: str, model_dir: str, before_model: Callable[[], Any] = lambda: None
) -> Any:
    """Calls the model_fn of a case's estimator in the default graph."""
    v1.set_random_seed(1)  # tf.estimator's k-means++ needs a seed of the graph.
    estimator = case.build(api, model_dir, api.estimator.RunConfig())
    inputs = case.train_input()
    if isinstance(inputs, tf.data.Dataset):
        inputs = v1.data.make_one_shot_iterator(inputs).get_next()
    features, labels = inputs if isinstance(inputs, tuple) else (inputs, None)
    v1.train.create_global_step()
    before_model()
    labels = None if mode == "infer" else labels
    return estimator.model_fn(features, labels, mode, estimator.config)


def _sizes_of_head(case: ask_heads.Case, api: Api, mode: str, *, regularized: bool) -> Sizes:
    """Returns the sizes of collections after a call of a head's create_estimator_spec."""
    with tf.Graph().as_default() as graph:
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        optimizer = api.keras.optimizers.legacy.SGD(0.1)
        optimizer.iterations = v1.train.create_global_step()
        before = sizes(graph)
        case.make(api.estimator).create_estimator_spec(
            {"w": tf.constant(ask_heads.WEIGHTS)},
            mode,
            tf.constant(case.logits) * weight,
            labels=None if mode == "infer" else tf.nest.map_structure(tf.constant, case.labels),
            **(
                {"optimizer": optimizer, "trainable_variables": [weight]} if mode == "train" else {}
            ),
            update_ops=[tf.no_op()],
            regularization_losses=[weight * 0.5] if regularized else None,
        )
        return added(before, sizes(graph))
