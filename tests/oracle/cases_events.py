"""Behaviours of the event files: which tags stand at which steps of which directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from cases import case
from jobs import Api, tiny_estimator, tiny_input, tiny_parts

tf1 = tf.compat.v1


def events(model_dir: str) -> dict[str, list[Any]]:
    """Returns the events of every event file below a directory.

    Returns:
        `{directory relative to model_dir: [[step, kind, tag], ...]}` in sorted order; kind is
        "graph", "meta_graph", "session <status>" or the field of the summary's value.
    """
    found: dict[str, list[Any]] = {}
    for path in sorted(Path(model_dir).rglob("events.out.tfevents.*")):
        rows = found.setdefault(str(path.parent.relative_to(model_dir)), [])
        # What a writer of this process has not written yet would be there by chance only.
        tf1.summary.FileWriterCache.get(str(path.parent)).flush()
        for event in tf1.train.summary_iterator(str(path)):
            what = event.WhichOneof("what")
            if what == "session_log":
                rows.append([event.step, f"session {event.session_log.status}", ""])
            elif what == "summary":
                for value in event.summary.value:
                    rows.append([event.step, value.WhichOneof("value"), value.tag])
            elif what in ("graph_def", "meta_graph_def"):
                rows.append([event.step, what, ""])
    return {name: sorted(rows) for name, rows in found.items()}


def _events_case(name: str, /, write: Any, evaluate: bool = False, **config: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        def model_fn(features, labels, mode):
            parts = tiny_parts(features, labels)
            write(parts)
            return api.estimator.EstimatorSpec(mode, **parts)

        settings = api.estimator.RunConfig(
            **{"save_summary_steps": 2, "log_step_count_steps": 2, **config}
        )
        estimator = tiny_estimator(api, model_dir, model_fn=model_fn, config=settings)
        estimator.train(tiny_input, steps=5)
        for name in (None, "other") if evaluate else ():
            estimator.evaluate(lambda: tiny_input(repeat=1), name=name)
        return events(model_dir)

    run.__name__ = f"events_{name}"
    case(run)


def _v1_scalar(parts: dict[str, Any]) -> None:
    tf1.summary.scalar("mine", parts["loss"])


def _v2_scalar(parts: dict[str, Any]) -> None:
    tf.summary.scalar("mine_v2", parts["loss"])


def _metric_of_name_scope(parts: dict[str, Any]) -> None:
    score = parts["predictions"]["score"]
    parts["eval_metric_ops"]["group/mean"] = tf1.metrics.mean(score)


def _metric_of_bytes(parts: dict[str, Any]) -> None:
    summary = tf1.summary.scalar("inner", tf.constant(1.0))
    parts["eval_metric_ops"]["text"] = (summary, tf.no_op())


def _metric_of_integer(parts: dict[str, Any]) -> None:
    parts["eval_metric_ops"]["count"] = (tf.constant(np.int32(3)), tf.no_op())
    parts["eval_metric_ops"]["count64"] = (tf.constant(np.int64(3)), tf.no_op())
    parts["eval_metric_ops"]["double"] = (tf.constant(np.float64(3)), tf.no_op())


def _metric_of_array(parts: dict[str, Any]) -> None:
    parts["eval_metric_ops"]["array"] = (tf.constant([1.0, 2.0]), tf.no_op())


_events_case("of_a_plain_model", lambda parts: None, evaluate=True)
_events_case("of_v1_scalar", _v1_scalar, evaluate=True)
_events_case("of_v2_scalar", _v2_scalar, evaluate=True)
_events_case("without_summaries", _v1_scalar, save_summary_steps=None)
_events_case("of_zero_summary_steps", _v1_scalar, save_summary_steps=0)
_events_case("without_step_counter", _v1_scalar, log_step_count_steps=None)
_events_case("of_metric_with_slash", _metric_of_name_scope, evaluate=True)
_events_case("of_metric_of_summary_bytes", _metric_of_bytes, evaluate=True)
_events_case("of_integer_metrics", _metric_of_integer, evaluate=True)
_events_case("of_array_metric", _metric_of_array, evaluate=True)
_events_case("without_checkpoint_graph", lambda parts: None, checkpoint_save_graph_def=False)
