"""From --exporters to Exporters, and what they left behind."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

from estimator_train.cli.output.errors import UsageError
from estimator_train.training.exporters import (
    BestExporter,
    Exporter,
    FinalExporter,
    LatestExporter,
)

_TO_KEEP = 5  # As in tf.estimator.


def exporters(
    receiver_fn: Callable[[], Any] | None, flag_values: absl_flags.FlagValues
) -> list[Exporter]:
    """Makes the exporters that the flags ask for.

    Args:
      receiver_fn: A serving_input_receiver_fn; None if there are no exporters.
      flag_values: The parsed flags.
    """
    to_keep = flag_values.exports_to_keep
    keep = _TO_KEEP if to_keep is None else to_keep or None
    metric, mode = flag_values.best_metric or "loss", flag_values.best_mode or "min"
    make: dict[str, Callable[[], Exporter]] = {
        "final": lambda: FinalExporter("final", receiver_fn),
        "latest": lambda: LatestExporter("latest", receiver_fn, exports_to_keep=keep),
        "best": lambda: _BestByMetric(metric, mode, receiver_fn, keep),
    }
    return [make[name]() for name in flag_values.exporters]


def newest_exports(model_dir: str, names: list[str]) -> dict[str, str]:
    """Finds what exporters wrote last.

    Args:
      model_dir: The directory of the training.
      names: The exporters' names.

    Returns:
      Name to directory of the newest export; without those that wrote nothing.
    """
    found = {}
    for name in names:
        path = os.path.join(model_dir, "export", name)
        entries = tf.io.gfile.listdir(path) if tf.io.gfile.isdir(path) else []
        times = [entry.rstrip("/") for entry in entries if entry.rstrip("/").isdigit()]
        if times:
            found[name] = os.path.join(path, max(times))
    return found


class _BestByMetric(BestExporter):
    """Exports what is better by one metric, which its first evaluation must have."""

    def __init__(
        self,
        metric: str,
        mode: str,
        receiver_fn: Callable[[], Any] | None,
        exports_to_keep: int | None,
    ) -> None:
        super().__init__(
            "best", receiver_fn, compare_fn=self._improves, exports_to_keep=exports_to_keep
        )
        self._metric = metric
        self._sign = 1 if mode == "max" else -1

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """Exports if the metric is better than before.

        Raises:
          UsageError: The evaluation has no such metric.
        """
        check_metric("best_metric", self._metric, eval_result)
        return super().export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )

    def _improves(
        self, best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]
    ) -> bool:
        # Earlier runs in the same directory may have had other metrics.
        best, current = (r.get(self._metric) for r in (best_eval_result, current_eval_result))
        return current is not None and (best is None or (current - best) * self._sign > 0)


def check_metric(flag: str, metric: str, metrics: Mapping[str, Any]) -> None:
    """Checks that an evaluation has the metric that a flag names.

    Args:
      flag: The flag's name.
      metric: Its value.
      metrics: What the evaluation found.

    Raises:
      UsageError: It has no such metric.
    """
    if metric not in metrics:
        raise UsageError(
            f"--{flag}={metric}: the evaluation has no such metric. It has "
            f"{', '.join(sorted(set(metrics) - {'global_step'}))}."
        )
