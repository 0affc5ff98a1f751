"""Exporters: which evaluated checkpoints become SavedModels, and which SavedModels are kept."""

import abc
import glob
import os
import re
from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.reading import read_global_step
from estimator_train.engine.job import list_argument_names
from estimator_train.engine.run.evaluate import ResultsWithoutBatches
from estimator_train.export.saved_model import TIMESTAMP, list_exports, list_names
from estimator_train.training.eval_metrics import EvalMetrics

_LOG = tf.get_logger()
_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP
_BEING_REMOVED = "removed-"
_COMPARE_ARGUMENTS = ("best_eval_result", "current_eval_result")


class Exporter(abc.ABC):
    """Base of exporters, which write a model after an evaluation."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of its directory below `model_dir/export`."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,  # Subclasses may accept the v2 class alone.
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports the model of an evaluated checkpoint, or does nothing.

        Args:
          estimator: The Estimator that is trained.
          export_path: The directory to write into.
          checkpoint_path: The checkpoint that was evaluated.
          eval_result: Metric name to value, the result of `Estimator.evaluate`.
          is_the_final_export: Whether this is the last checkpoint of the training. A checkpoint
            that was exported before it turned out to be the last comes a second time.

        Returns:
          The path of the export, or None.
        """


class _SavedModelExporter(Exporter):
    """Base of the exporters of SavedModels."""

    _exports_to_keep: int | None = None
    # The last checkpoint and its export, until the final one.
    _last: tuple[str, bytes] | None = None
    # The result of the last export, or a better one before it.
    _best: Mapping[str, Any] | None = None

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        self._name = name
        self._receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        """The name of its directory below `model_dir/export`."""
        return self._name

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """Exports if the exporter wants the model; removes exports beyond those to keep."""
        last, self._last = self._last, None
        if is_the_final_export and last and last[0] == checkpoint_path:
            return last[1]
        if not self._wants(estimator, export_path, eval_result, is_the_final_export):
            return None
        written = self._write(estimator, export_path, checkpoint_path)
        self._best = eval_result
        if not is_the_final_export:
            self._last = checkpoint_path, written
        return written

    def _write(self, estimator: Any, export_path: str, checkpoint_path: str) -> bytes:
        written: bytes = estimator.export_saved_model(
            export_path,
            self._receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
        remove_old_exports(export_path, self._exports_to_keep)
        return written

    def _wants(
        self, estimator: Any, export_path: str, result: Mapping[str, Any], is_final: bool
    ) -> bool:
        """Returns whether to export the model that had this result."""
        return True


class FinalExporter(_SavedModelExporter):
    """Exports the last checkpoint, once training has ended.

    Args:
      name: The name of its directory below `model_dir/export`.
      serving_input_receiver_fn: As for `Estimator.export_saved_model`.
      assets_extra: As for `Estimator.export_saved_model`.
      as_text: As for `Estimator.export_saved_model`.
    """

    def _wants(
        self, estimator: Any, export_path: str, result: Mapping[str, Any], is_final: bool
    ) -> bool:
        if is_final:
            _LOG.info("Performing the final export in the end of training.")
        return is_final


class LatestExporter(_SavedModelExporter):
    """Exports every evaluated checkpoint and keeps the newest exports.

    `exports_to_keep` is how many exports stay; None keeps all. The other arguments are those of
    `FinalExporter`.

    Raises:
      ValueError: exports_to_keep is not positive.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be positive number. Got {exports_to_keep}"
            )
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._exports_to_keep = exports_to_keep


def _loss_smaller(
    best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]
) -> bool:
    """Returns whether the current loss is smaller than the best one."""
    results = {"best_eval_result": best_eval_result, "current_eval_result": current_eval_result}
    for name, result in results.items():
        if not result or "loss" not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return best_eval_result["loss"] > current_eval_result["loss"]


class BestExporter(_SavedModelExporter):
    """Exports a checkpoint that is better than all that were evaluated before it.

    A checkpoint whose evaluation read no batch is not exported.

    After a restart the best result so far is found in the event files of earlier evaluations. A job
    that is killed between an evaluation and its export exports the checkpoint after the restart, if
    it is still the best and exists.

    Args:
      name: The name of its directory below `model_dir/export`.
      serving_input_receiver_fn: As for `Estimator.export_saved_model`; needed by the first export.
      event_file_pattern: Event files of the evaluation, relative to model_dir: `eval/` or
        `eval_<name>/`. None forgets earlier results at a restart.
      compare_fn: Function of `best_eval_result` and `current_eval_result`, dicts of metric name to
        value, which returns whether the current one is better; by default by smaller loss.
      assets_extra: As for `Estimator.export_saved_model`.
      as_text: As for `Estimator.export_saved_model`.
      exports_to_keep: How many exports stay, the newest; None keeps all.

    Raises:
      ValueError: compare_fn is missing or has other arguments, or exports_to_keep is not positive.
      TypeError: compare_fn cannot be called.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., Any] = _loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        _check_compare_fn(compare_fn)
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
            )
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._event_file_pattern = event_file_pattern
        self._compare_fn = compare_fn
        self._exports_to_keep = exports_to_keep
        self._model_dir: str | None = None

    def _wants(
        self, estimator: Any, export_path: str, result: Mapping[str, Any], is_final: bool
    ) -> bool:
        if isinstance(result, ResultsWithoutBatches):
            return False
        if self._model_dir != estimator.model_dir:
            self._model_dir = estimator.model_dir
            self._best = self._find_best_before(estimator, export_path, result)
        is_best = self._best is None or self._is_better(self._best, result)
        if is_best:
            _LOG.info("Performing best model export.")
        return is_best

    def _find_best_before(
        self, estimator: Any, export_path: str, current: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Returns the best result in the event files, without that of the current evaluation.

        If its checkpoint is not exported, because the job was killed before, it is now, unless the
        current one is better.
        """
        if not self._event_file_pattern or not estimator.model_dir:
            return None
        _LOG.info("Loading best metric from event files.")
        exports = list_exports(export_path)
        pattern = os.path.join(glob.escape(estimator.model_dir), self._event_file_pattern)
        results = EvalMetrics(pattern).read()
        results.pop((current or {}).get(_STEP, -1), None)
        if not exports:  # Results of an evaluation with other metrics cannot be compared.
            numbers = {name for name, value in (current or {}).items() if isinstance(value, Number)}
            numbers.discard(_STEP)
            results = {step: each for step, each in results.items() if numbers <= each.keys()}
        best = self._find_best(results)
        if best is None:
            return None
        exported = _read_step(os.path.join(export_path, exports[-1])) if exports else None
        if exports and exported in (None, best):
            return results[best]
        path = _find_checkpoint(estimator.model_dir, best)
        if path and (
            self._is_better(results[best], current)
            or self._try_to_write(estimator, export_path, path)
        ):
            return results[best]
        # The newest export is the best that there is.
        return None if exported is None else results.get(exported, results[best])

    def _find_best(self, results: Mapping[int, Mapping[str, Any]]) -> int | None:
        """Returns the step of the best result, the first of equal ones."""
        best = None
        for step, result in results.items():
            if best is None or self._is_better(results[best], result):
                best = step
        return best

    def _try_to_write(self, estimator: Any, export_path: str, checkpoint_path: str) -> bool:
        _LOG.info("Exporting %s, the best so far, which has no export.", checkpoint_path)
        try:
            self._write(estimator, export_path, checkpoint_path)
        except (tf.errors.OpError, ValueError) as error:
            _LOG.warning("Could not export %s, the best so far: %s", checkpoint_path, error)
            return False
        return True

    def _is_better(self, best: Mapping[str, Any], current: Mapping[str, Any]) -> bool:
        try:
            return bool(self._compare_fn(best_eval_result=best, current_eval_result=current))
        except Exception:
            _LOG.error(
                "compare_fn (%s) of the exporter '%s' failed for best_eval_result=%s and "
                "current_eval_result=%s.",
                self._compare_fn,
                self.name,
                best,
                current,
            )
            raise


def _check_compare_fn(compare_fn: Callable[..., Any] | None) -> None:
    if compare_fn is None:
        raise ValueError("`compare_fn` must not be None.")
    names = list_argument_names(compare_fn)
    for name in _COMPARE_ARGUMENTS:
        if name not in names:
            raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    others = sorted(set(names) - set(_COMPARE_ARGUMENTS))
    if others:
        raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {others}")


def _read_step(export_dir: str) -> int | None:
    """Returns the global step of an export; None if it cannot be read."""
    try:
        return read_global_step(os.path.join(export_dir, "variables", "variables")) or None
    except (tf.errors.OpError, ValueError):
        return None


def _find_checkpoint(model_dir: str, step: int) -> str | None:
    """Returns the checkpoint of a global step, if it exists."""
    state = tf.train.get_checkpoint_state(model_dir)
    for path in state.all_model_checkpoint_paths if state else ():
        if path.endswith(f"-{step}") and tf.io.gfile.exists(path + ".index"):
            return str(path)
    return None


def remove_old_exports(export_path: str, exports_to_keep: int | None) -> None:
    """Removes all but the newest exports in a directory; other files are kept.

    An export is renamed before its files are removed one by one, so that no reader finds an
    incomplete one. Renamed exports of a process that was killed are removed too.

    Args:
      export_path: The directory.
      exports_to_keep: Number of exports to keep; None keeps all.
    """
    if exports_to_keep is None:
        return
    for name in list_exports(export_path)[:-exports_to_keep]:
        _try_to_remove(tf.io.gfile.rename, export_path, name, _BEING_REMOVED + name)
    for name in list_names(export_path):
        if re.fullmatch(_BEING_REMOVED + TIMESTAMP.pattern, name):
            _try_to_remove(tf.io.gfile.rmtree, export_path, name)


def _try_to_remove(operation: Callable[..., None], export_path: str, *names: str) -> None:
    try:
        operation(*(os.path.join(export_path, name) for name in names))
    except tf.errors.OpError as error:
        path = os.path.join(export_path, names[0])
        _LOG.warning("Could not remove the old export %s: %s", path, error)
