"""Export strategies of `tf.contrib.learn`, which exporters replaced."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

import estimator_train as est
from estimator_train.compat.v1 import Estimator
from estimator_train.extension import (
    choose_export_dir,
    get_temporary_dir,
    list_argument_names,
    remove_old_exports,
)
from tf_contrib._types import Column
from tf_contrib.layers.columns import create_feature_spec_for_parsing


class ExportStrategy(NamedTuple):
    """Function that exports a model, with the name of its directory.

    Attributes:
      name: Name of the directory below `model_dir/export`.
      export_fn: Function of an estimator and a directory that returns the path of the export. It
        may also have the arguments `checkpoint_path`, `eval_result` and `strip_default_attrs`.
      strip_default_attrs: Value of the argument of that name.
    """

    name: str
    export_fn: Callable[..., Any]
    strip_default_attrs: bool | None = None

    def export(
        self,
        estimator: Any,
        export_path: str | bytes,
        checkpoint_path: str | None = None,
        eval_result: Mapping[str, Any] | None = None,
    ) -> Any:
        """Exports a model.

        Args:
          estimator: Estimator.
          export_path: The directory to write into.
          checkpoint_path: The checkpoint; None for the latest.
          eval_result: Metric name to value.

        Returns:
          The result of export_fn, usually the path of the export.

        Raises:
          ValueError: export_fn has the argument `eval_result`, but not `checkpoint_path`.
        """
        known = list_argument_names(self.export_fn)
        if "eval_result" in known and "checkpoint_path" not in known:
            raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
        values = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        given = {name: value for name, value in values.items() if name in known}
        return self.export_fn(estimator, export_path, **given)


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Returns a strategy that writes a SavedModel and removes old ones.

    Args:
      serving_input_fn: Function that returns a ServingInputReceiver or InputFnOps.
      default_output_alternative_key: Key of the output alternative that is the default signature,
        for an estimator of `tf.contrib.learn`.
      assets_extra: See `Estimator.export_saved_model`.
      as_text: See `Estimator.export_saved_model`.
      exports_to_keep: Number of exports that stay, the newest; None keeps all.
      strip_default_attrs: Whether to leave out attributes that have their default value.
    """
    named: dict[str, Any] = {"assets_extra": assets_extra, "as_text": as_text}
    if default_output_alternative_key is not None:
        named["default_output_alternative_key"] = default_output_alternative_key

    def export(
        estimator: Estimator,
        export_dir_base: str | bytes,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool | None = None,
    ) -> bytes:
        directory = os.fsdecode(export_dir_base)
        path = estimator.export_savedmodel(
            directory,
            serving_input_fn,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=bool(strip_default_attrs),
            **named,
        )
        remove_old_exports(directory, exports_to_keep)
        return path

    return ExportStrategy("Servo", export, strip_default_attrs)


def make_parsing_export_strategy(
    feature_columns: Iterable[Column],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Returns a strategy for models that parse serialized tf.Examples.

    Args:
      feature_columns: Columns of `tf.feature_column` or `tf.contrib.layers` to parse.
      default_output_alternative_key: See `make_export_strategy`, as the arguments below.
      assets_extra: See there.
      as_text: See there.
      exports_to_keep: See there.
      target_core: Unused: all estimators export in the same way.
      strip_default_attrs: See there.
    """
    del target_core
    spec = create_feature_spec_for_parsing(feature_columns)
    receiver_fn = est.export.build_parsing_serving_input_receiver_fn(spec)
    return make_export_strategy(
        receiver_fn,
        default_output_alternative_key,
        assets_extra,
        as_text,
        exports_to_keep,
        strip_default_attrs,
    )


def make_best_model_export_strategy(
    serving_input_fn: Callable[[], Any],
    exports_to_keep: int | None = 1,
    model_dir: str | None = None,
    event_file_pattern: str | None = None,
    compare_fn: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] | None = None,
    default_output_alternative_key: str | None = None,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Returns a strategy that exports a checkpoint if it is better than all before it.

    Each checkpoint has a directory of its name below the export path.

    Args:
      serving_input_fn: Function that returns a ServingInputReceiver or InputFnOps.
      exports_to_keep: Number of exports of a checkpoint that stay; None keeps all.
      model_dir: Unused: results of an earlier job are not read.
      event_file_pattern: Unused, as model_dir.
      compare_fn: Function of the best result so far and of the new one, which returns whether the
        new one is better; by default by smaller loss.
      default_output_alternative_key: See `make_export_strategy`.
      strip_default_attrs: See `make_export_strategy`.
    """
    del model_dir, event_file_pattern
    is_better = compare_fn or _has_smaller_loss
    base = make_export_strategy(
        serving_input_fn, default_output_alternative_key, exports_to_keep=exports_to_keep
    )
    best: list[Mapping[str, Any]] = []

    def export(
        estimator: Estimator,
        export_dir_base: str | bytes,
        checkpoint_path: str | None = None,
        eval_result: Mapping[str, Any] | None = None,
        strip_default_attrs: bool | None = None,
    ) -> bytes | str:
        path = checkpoint_path or estimator.latest_checkpoint()
        if not path or not eval_result:
            raise ValueError(f"The evaluation of {path} has no results to compare.")
        if best and not is_better(best[-1], eval_result):
            return ""
        best[:] = [eval_result]
        directory = os.path.join(os.fsdecode(export_dir_base), os.path.basename(path))
        return base.export_fn(estimator, directory, path, strip_default_attrs)

    return ExportStrategy("best_model", export, strip_default_attrs)


def _has_smaller_loss(best: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    for result in (best, new):
        if "loss" not in result:
            raise ValueError(f"The results of the evaluation have no loss: {sorted(result)}.")
    return bool(best["loss"] > new["loss"])


def garbage_collect_exports(export_dir_base: str | bytes, exports_to_keep: int | None) -> None:
    """Removes all but the newest exports.

    Args:
      export_dir_base: The directory of the exports.
      exports_to_keep: Number of exports that stay; None keeps all.
    """
    remove_old_exports(os.fsdecode(export_dir_base), exports_to_keep)


class Export(NamedTuple):
    """Directory of an export, and the seconds since 1970 that are its name."""

    path: str
    export_version: int


def get_most_recent_export(export_dir_base: str | bytes) -> Export | None:
    """Returns the newest export in a directory; None if there is no export."""
    directory = os.fsdecode(export_dir_base)
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(directory)]
    versions = [int(name) for name in names if name.isdecimal() and len(name) == 10]
    if not versions:
        return None
    return Export(os.path.join(directory, str(max(versions))), max(versions))


def get_timestamped_export_dir(export_dir_base: str | bytes) -> bytes:
    """Returns a new path below a directory, whose name is the time in seconds since 1970."""
    return os.fsencode(choose_export_dir(os.fsdecode(export_dir_base)))


def get_temp_export_dir(timestamped_export_dir: str | bytes) -> bytes:
    """Returns the path in which an export is written, before it is renamed."""
    return os.fsencode(get_temporary_dir(os.fsdecode(timestamped_export_dir)))
