"""The methods of an Estimator that write SavedModels."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from estimator_train.engine.context import EstimatorContext
from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.export import export_checkpoint


class ExportVerbs:
    """Methods of Estimator that export its model."""

    def export_saved_model(
        self,
        export_dir_base: str | os.PathLike[str],
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes a SavedModel into a new time-stamped directory.

        Args:
          export_dir_base: The directory in which that directory is made.
          serving_input_receiver_fn: Function without arguments that returns a
            `ServingInputReceiver`, or for other modes a receiver with labels.
          assets_extra: Path within `assets.extra` to the file that is copied there.
          as_text: Whether to write the graph as text.
          checkpoint_path: The checkpoint; by default the latest, or before any training the one
            that it would start from.
          experimental_mode: The mode that is exported.

        Returns:
          The path of the new directory, as bytes.

        Raises:
          ValueError: There is no checkpoint, no receiver function, or model_fn gives no
            export_outputs.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base,
            {experimental_mode: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str | os.PathLike[str],
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Writes one SavedModel with a graph for each of several modes.

        Args:
          export_dir_base: As for `export_saved_model`.
          input_receiver_fn_map: Mode to the function that returns its receiver.
          assets_extra: As for `export_saved_model`.
          as_text: As for `export_saved_model`.
          checkpoint_path: As for `export_saved_model`.

        Returns:
          The path of the new directory, as bytes.

        Raises:
          ValueError: There is no checkpoint, or no mode is given.
        """
        return self._export_all_saved_models(
            export_dir_base,
            input_receiver_fn_map,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )

    def export_savedmodel(
        self,
        export_dir_base: str | os.PathLike[str],
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Writes a SavedModel, as `export_saved_model` with its v1 name.

        Args:
          export_dir_base: As for `export_saved_model`.
          serving_input_receiver_fn: As for `export_saved_model`.
          assets_extra: As for `export_saved_model`.
          as_text: As for `export_saved_model`.
          checkpoint_path: As for `export_saved_model`.
          strip_default_attrs: Whether to leave out attributes that have their default value.

        Returns:
          The path of the new directory, as bytes.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base,
            {ModeKeys.PREDICT: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
        )

    def _export_all_saved_models(
        self,
        export_dir_base: str | os.PathLike[str],
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = True,
    ) -> bytes:
        return export_checkpoint.export(
            self._engine_context(None),
            os.fsdecode(export_dir_base),
            input_receiver_fn_map,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            latest_checkpoint=self.latest_checkpoint,
            strip_default_attrs=strip_default_attrs,
        )

    def latest_checkpoint(self) -> str | None:
        """Returns the path prefix of the latest checkpoint in model_dir, or None."""
        raise NotImplementedError

    def _engine_context(self, mode: str | None) -> EstimatorContext:
        raise NotImplementedError
