"""Exporters of a job by its flags, and the serving input receivers that they need."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from absl import flags as absl_flags

from estimator_train import Estimator, RunConfig, export
from estimator_train.cli.errors import UsageError
from estimator_train.engine.inputs.input_fn import is_dataset, split
from estimator_train.export.saved_model import list_exports
from estimator_train.training.exporters import (
    BestExporter,
    Exporter,
    FinalExporter,
    LatestExporter,
)

Receiver = export.ServingInputReceiver | export.TensorServingInputReceiver
_EXPORTS_TO_KEEP = 5  # The default of tf.estimator.
ReceiverFn = Callable[[], Receiver] | None


def make_receiver_fn(
    input_fn: Callable[..., Any], config: RunConfig, input_name: str
) -> Callable[[], Receiver]:
    """Returns a serving_input_receiver_fn that receives the features of an input_fn.

    Args:
      input_fn: The input_fn; it takes config and input_context.
      config: The estimator's RunConfig, for input_fn.
      input_name: The name in the signature if the features are a single tensor.

    Returns:
      A function that creates a placeholder for each feature, for any batch size.

    Raises:
      UsageError: The features are neither a tensor nor a dict of tensors.
    """
    with tf.Graph().as_default():
        result = input_fn(config=config, input_context=tf.distribute.InputContext())
        features, _ = split(result.element_spec if is_dataset(result) else result)
        is_single = not isinstance(features, dict)
        leaves = {input_name: features} if is_single else features
        specs = {name: _make_batch_spec(name, leaf) for name, leaf in leaves.items()}

    def receiver_fn() -> Receiver:
        placeholders = {
            name: tf.compat.v1.placeholder(spec.dtype, spec.shape, name)
            for name, spec in specs.items()
        }
        if is_single:
            return export.TensorServingInputReceiver(placeholders[input_name], placeholders)
        return export.ServingInputReceiver(placeholders, placeholders)

    return receiver_fn


def _make_batch_spec(name: str, leaf: Any) -> tf.TensorSpec:
    """Returns the spec of a feature for any number of examples."""
    if not isinstance(leaf, (tf.TensorSpec, tf.Tensor)):
        raise UsageError(
            f"feature '{name}' is {leaf!r}, but export supports only dense tensors: write a "
            "serving_input_receiver_fn and call Estimator.export_saved_model with it."
        )
    shape = None if leaf.shape.rank is None else [None, *leaf.shape[1:]]
    return tf.TensorSpec(shape, leaf.dtype)


def make_exporters(receiver_fn: ReceiverFn, flag_values: absl_flags.FlagValues) -> list[Exporter]:
    """Returns the exporters of --exporters.

    Args:
      receiver_fn: A serving_input_receiver_fn; None if there are no exporters.
      flag_values: The parsed flags.
    """
    to_keep = flag_values.exports_to_keep
    keep = _EXPORTS_TO_KEEP if to_keep is None else to_keep or None
    metric, mode = flag_values.best_metric or "loss", flag_values.best_mode or "min"
    make: dict[str, Callable[[], Exporter]] = {
        "final": lambda: FinalExporter("final", receiver_fn),
        "latest": lambda: LatestExporter("latest", receiver_fn, exports_to_keep=keep),
        "best": lambda: _BestByMetric(metric, mode, receiver_fn, keep),
    }
    return [make[name]() for name in flag_values.exporters]


def find_newest_exports(model_dir: str, names: list[str]) -> dict[str, str]:
    """Returns the directory of the newest export of each exporter that wrote one.

    Args:
      model_dir: The directory of the training.
      names: Names of the exporters.
    """
    newest = {}
    for name in names:
        path = os.path.join(model_dir, "export", name)
        if exports := list_exports(path):
            newest[name] = os.path.join(path, exports[-1])
    return newest


class _BestByMetric(BestExporter):
    """Exporter of the checkpoint with the best value of a metric, which every evaluation needs."""

    def __init__(
        self,
        metric: str,
        mode: str,
        receiver_fn: ReceiverFn,
        exports_to_keep: int | None,
    ) -> None:
        super().__init__(
            "best", receiver_fn, compare_fn=self._is_better, exports_to_keep=exports_to_keep
        )
        self._metric = metric
        self._sign = 1 if mode == "max" else -1

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, np.generic],
        is_the_final_export: bool,
    ) -> bytes | None:
        """Exports if the metric is better than before.

        Raises:
          UsageError: The evaluation does not have the metric.
        """
        check_metric("best_metric", self._metric, eval_result)
        return super().export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )

    def _is_better(
        self,
        best_eval_result: Mapping[str, np.floating],
        current_eval_result: Mapping[str, np.floating],
    ) -> bool:
        # An earlier run in the same directory may have had other metrics.
        best, current = (r.get(self._metric) for r in (best_eval_result, current_eval_result))
        return current is not None and (best is None or bool((current - best) * self._sign > 0))


def check_metric(flag: str, metric: str, metrics: Mapping[str, np.generic]) -> None:
    """Checks that an evaluation has the metric that a flag names.

    Args:
      flag: Name of the flag.
      metric: Value of the flag.
      metrics: Result of the evaluation.

    Raises:
      UsageError: The evaluation does not have the metric.
    """
    if metric not in metrics:
        raise UsageError(
            f"--{flag}={metric}: the evaluation does not have this metric. Its metrics are "
            f"{', '.join(sorted(set(metrics) - {'global_step'}))}."
        )
