"""Records what the original exports into tests/golden/export.json."""

from __future__ import annotations

import tempfile
from typing import Any

import ask_export
import tensorflow as tf
from outcomes import logged, outcomes, record

v1 = tf.compat.v1


def exported(question: ask_export.Export) -> dict[str, Any]:
    """The SavedModel that the original's Estimator makes, and what it logs of signatures."""
    model_dir = tempfile.mkdtemp()
    model_fn = ask_export.make_model_fn(v1.estimator, question.outputs)
    estimator = v1.estimator.Estimator(model_fn, model_dir)
    estimator.train(lambda: ({"x": tf.constant([[1.0, 2.0]])}, tf.constant([[1.0]])), steps=1)
    with logged() as lines:
        path = estimator.experimental_export_all_saved_models(model_dir, question.receivers)
    return {
        "saved model": ask_export.saved_model(path.decode()),
        "log": [line for line in lines if ask_export.is_about_signatures(line)],
    }


if __name__ == "__main__":
    raw_supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn
    export = v1.estimator.export
    answers = outcomes(ask_export.questions(export, raw_supervised, tf.keras))
    record("export", answers)
    questions = ask_export.exports(export, raw_supervised)
    record("saved_model", {name: exported(question) for name, question in questions.items()})
