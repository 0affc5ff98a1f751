"""SavedModels of the original's boosted trees, and their answers to rows."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import boosted_trees
import boosted_trees_continued
import numpy as np
import tensorflow as tf
from boosted_trees import CASES, Case
from outcomes import GOLDEN

EXPORTS = GOLDEN / "boosted_trees_exports"


def _list_columns_with_file() -> list[Any]:
    """Returns columns of which one reads a vocabulary file, an asset of the SavedModel."""
    fc = tf.feature_column
    path = Path(tempfile.mkdtemp()) / "classes.txt"
    path.write_text("first\nsecond\n")
    classes = fc.categorical_column_with_vocabulary_file("class", str(path))
    return [fc.indicator_column(classes), fc.numeric_column("fare")]


# Cases with the number of steps after which they are exported.
EXPORTED: dict[str, tuple[Case, int]] = {
    name: boosted_trees_continued.CONTINUED[name]
    for name in ("people", "pruned", "categorical", "numeric", "three classes", "batches")
} | {"vocabulary file": (CASES["people"]._replace(columns=_list_columns_with_file), 5)}
_ROWS = 12
_NUMBERS = (-1e30, 1e30, float("nan"), 0.0)
_WORDS = ("other", "", "first", "male")


def export(api: Any, name: str, model_dir: str) -> None:
    """Trains a case, and copies its SavedModel to the recorded ones."""
    case, steps = EXPORTED[name]
    estimator = boosted_trees.made(api, case, model_dir)
    batches = case.settings.get("n_batches_per_layer", 1)
    estimator.train(boosted_trees.input_fn(case.data, case.label, batches), max_steps=steps)
    features = {
        key: tf.TensorSpec(
            [None], tf.as_dtype(values.dtype) if values.dtype.kind != "U" else "string"
        )
        for key, values in make_rows(name).items()
    }

    def receive() -> Any:
        given = {
            key: tf.compat.v1.placeholder(spec.dtype, spec.shape, key)
            for key, spec in features.items()
        }
        return api.export.ServingInputReceiver(given, given)

    exported = estimator.export_saved_model(f"{model_dir}/export", receive)
    target = EXPORTS / name.replace(" ", "_")
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(Path(exported.decode()), target)


def make_rows(name: str) -> dict[str, np.ndarray]:
    """Returns some rows of a case's data, and as many with values that training has not seen."""
    case, _ = EXPORTED[name]
    features, _ = boosted_trees.DATA[case.data]()
    odd = {
        key: np.resize(_WORDS if values.dtype.kind == "U" else _NUMBERS, _ROWS)
        for key, values in features.items()
    }
    return {
        key: np.concatenate([values[:_ROWS], np.roll(odd[key], place)]).astype(values.dtype)
        for place, (key, values) in enumerate(features.items())
    }


def ask(export_dir: Path, name: str) -> dict[str, Any]:
    """Returns the answers of a SavedModel by signature and output."""
    rows = make_rows(name)
    found: dict[str, Any] = {}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        model = tf.compat.v1.saved_model.load(session, ["serve"], str(export_dir))
        for key, signature in sorted(model.signature_def.items()):
            feeds = {info.name: rows[feature] for feature, info in signature.inputs.items()}
            fetches = {output: info.name for output, info in signature.outputs.items()}
            answers = session.run(fetches, feeds)
            found[key] = {
                output: [_read(value) for value in answers[output]] for output in sorted(answers)
            }
    return found


def _read(values: np.ndarray) -> list[Any]:
    return [value.decode() if isinstance(value, bytes) else value for value in values.tolist()]
