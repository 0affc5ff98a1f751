"""Strategies by which an `Experiment` of `tf.contrib.learn` exports its model."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import estimator_train as est
from estimator_train.engine.user_functions import list_argument_names
from estimator_train.legacy.contrib._types import Column
from estimator_train.legacy.contrib.layers.columns import create_feature_spec_for_parsing


class _Fields(NamedTuple):
    name: str
    export_fn: Callable[..., Any]
    strip_default_attrs: bool | None = None


class ExportStrategy(_Fields, est.Exporter):
    """Name and function of an export.

    Args:
      name: Name of the directory of the exports.
      export_fn: Function of an estimator and a directory that returns the path of the export. It
        gets checkpoint_path, eval_result and strip_default_attrs if it takes them.
      strip_default_attrs: Value of this argument.
    """

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str | None = None,
        eval_result: Mapping[str, Any] | None = None,
        is_the_final_export: bool = True,
    ) -> Any:
        """Calls export_fn, at the end of training only."""
        if not is_the_final_export:
            return None
        available = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        accepted = list_argument_names(self.export_fn)
        arguments = {name: value for name, value in available.items() if name in accepted}
        return self.export_fn(estimator, export_path, **arguments)


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: object = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> est.FinalExporter:
    """Creates an exporter of the final model."""
    del default_output_alternative_key, strip_default_attrs, exports_to_keep
    return est.FinalExporter("Servo", serving_input_fn, assets_extra, as_text)


def make_parsing_export_strategy(
    feature_columns: Iterable[Column],
    default_output_alternative_key: object = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> est.FinalExporter:
    """Creates an exporter of the final model, which parses the features of columns."""
    del default_output_alternative_key, target_core, strip_default_attrs, exports_to_keep
    spec = create_feature_spec_for_parsing(feature_columns)
    read = est.export.build_parsing_serving_input_receiver_fn(spec)
    return make_export_strategy(read, assets_extra=assets_extra, as_text=as_text)


def make_best_model_export_strategy(
    serving_input_fn: Callable[[], Any],
    exports_to_keep: int | None = 1,
    model_dir: str | None = None,
    event_file_pattern: str | None = None,
    compare_fn: Callable[..., bool] | None = None,
    default_output_alternative_key: object = None,
    strip_default_attrs: bool | None = None,
) -> est.BestExporter:
    """Creates an exporter of the best model; see `BestExporter`.

    Args:
      serving_input_fn: Function that returns the inputs of a SavedModel.
      exports_to_keep: Number of exports to keep.
      model_dir: Unused.
      event_file_pattern: Pattern of the event files of earlier evaluations.
      compare_fn: Function of the best and the current results that returns whether the current ones
        are better; by default those of a smaller loss.
      default_output_alternative_key: Unused.
      strip_default_attrs: Unused.
    """
    del model_dir, default_output_alternative_key, strip_default_attrs
    create = functools.partial(
        est.BestExporter,
        "best_model",
        serving_input_fn,
        event_file_pattern,
        exports_to_keep=exports_to_keep,
    )
    return create() if compare_fn is None else create(compare_fn=compare_fn)
