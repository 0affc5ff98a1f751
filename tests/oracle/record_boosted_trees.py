"""Records figures of boosted trees into tests/golden/boosted_trees*.json.

Run by `record.py --trees=PYTHON`, a Python 3.10 that has the last TensorFlow with kernels for them:
`pip install "tensorflow-cpu==2.8.4" "protobuf<3.20" "numpy<1.24"`.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import boosted_trees
import boosted_trees_continued
import boosted_trees_exported
import goldens
import tensorflow as tf
from tensorflow.core.kernels.boosted_trees import boosted_trees_pb2


def read_trees(estimator: Any) -> list[dict[str, Any]]:
    """Returns the trees of an estimator of the original: place in a full tree to split or leaf."""
    checkpoint = tf.train.load_checkpoint(estimator.model_dir)
    [name] = [n for n in checkpoint.get_variable_to_shape_map() if n.endswith("_serialized")]
    ensemble = boosted_trees_pb2.TreeEnsemble.FromString(checkpoint.get_tensor(name))
    trees = []
    for tree in ensemble.trees:
        found: dict[str, Any] = {}
        _add(tree.nodes, 0, 0, found)
        trees.append(found)
    return trees


def _add(nodes: Any, number: int, place: int, found: dict[str, Any]) -> None:
    node = nodes[number]
    kind = node.WhichOneof("node")
    if kind == "leaf":
        found[str(place)] = {"value": _value(node.leaf)}
        return
    split = getattr(node, kind)
    found[str(place)] = {
        "feature": split.feature_id,
        "threshold": split.value if kind == "categorical_split" else split.threshold,
        "gain": node.metadata.gain,
    }
    _add(nodes, split.left_id, 2 * place + 1, found)
    _add(nodes, split.right_id, 2 * place + 2, found)


def _value(leaf: Any) -> list[float]:
    return list(leaf.vector.value) if leaf.HasField("vector") else [leaf.scalar]


def _in_memory(label: str, kind: str) -> list[float]:
    with tempfile.TemporaryDirectory() as model_dir:
        return boosted_trees.in_memory(tf.estimator, label, kind, model_dir)


def figures() -> dict[str, Any]:
    return {
        name: boosted_trees.observe(tf.estimator, name, read_trees) for name in boosted_trees.CASES
    }


def collections() -> dict[str, Any]:
    return {
        question: boosted_trees.collections(tf.estimator, *question.rsplit(", ", 1))
        for question in boosted_trees.COLLECTIONS
    }


def more() -> dict[str, Any]:
    api = tf.estimator
    return {
        **{f"losses {name}": boosted_trees.losses(api, name) for name in boosted_trees.LONG},
        **{f"bad {name}": boosted_trees.bad(api, s) for name, s in boosted_trees.BAD.items()},
        "in memory classifier": _in_memory("signal", "BoostedTreesClassifier"),
        "in memory regressor": _in_memory("number", "BoostedTreesRegressor"),
        "signatures": boosted_trees.signatures(api),
    }


def continued() -> dict[str, Any]:
    found = {}
    for name in boosted_trees_continued.CONTINUED:
        with tempfile.TemporaryDirectory() as model_dir:
            estimator = boosted_trees_continued.interrupt(tf.estimator, name, model_dir)
            boosted_trees_continued.keep_checkpoint(estimator, name)
            found[name] = boosted_trees_continued.observe(estimator, name, read_trees)
    return found


def exported() -> dict[str, Any]:
    found = {}
    for name in boosted_trees_exported.EXPORTED:
        with tempfile.TemporaryDirectory() as model_dir:
            boosted_trees_exported.export(tf.estimator, name, model_dir)
        found[name] = boosted_trees_exported.ask(
            boosted_trees_exported.EXPORTS / name.replace(" ", "_"), name
        )
    return found


RECORDINGS = {
    "boosted_trees": figures,
    "boosted_trees_collections": collections,
    "boosted_trees_continued": continued,
    "boosted_trees_exported": exported,
    "boosted_trees_settings": more,
}

if __name__ == "__main__":
    name = sys.argv[1]
    goldens.write(name, RECORDINGS[name]())
    goldens.note_version(
        name, *goldens.own_versions(f"tf.estimator of TensorFlow {tf.__version__}")
    )
