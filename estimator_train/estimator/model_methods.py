"""Methods of an Estimator that read its checkpoints, export or open its model, or try a job out."""

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.checkpoints.reading import read_variable_names, read_variable_value
from estimator_train.engine.job import Job
from estimator_train.engine.run.predict import select_predictions
from estimator_train.engine.types import PredictKeys
from estimator_train.estimator_spec import ModeKeys
from estimator_train.export import saved_model
from estimator_train.predictor.live import EstimatorPredictor


class ModelMethods:
    """Methods of Estimator on the model in its model_dir."""

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and event files."""
        raise NotImplementedError

    def _make_job(self, mode: str | None) -> Job:
        raise NotImplementedError

    def _prepare_checkpoints(self) -> None:
        raise NotImplementedError

    def dry_run(self, train_spec: Any, eval_spec: Any) -> Any:
        """Runs two steps, one evaluation batch, one export and one served prediction.

        The dry run uses a temporary directory: a job that would fail after hours fails now. See
        `estimator_train.estimator.dry_run`.

        Args:
          train_spec: The `TrainSpec` of the job.
          eval_spec: Its `EvalSpec`, or a list of EvalSpecs.
        """
        # Imported here: it reads event files with TensorBoard, which takes long to import.
        from estimator_train.estimator.dry_run import dry_run

        return dry_run(self, train_spec, eval_spec)

    def latest_checkpoint(self) -> str | None:
        """Returns the path prefix of the latest checkpoint in model_dir, or None."""
        return latest_checkpoint(self.model_dir)

    def get_variable_names(self) -> list[str]:
        """Returns the names of all variables in the latest checkpoint.

        Raises:
          ValueError: There is no checkpoint.
        """
        return read_variable_names(self.model_dir)

    def get_variable_value(self, name: str) -> Any:
        """Returns a variable's value in the latest checkpoint, a NumPy array.

        Raises:
          ValueError: There is no checkpoint.
        """
        return read_variable_value(self.model_dir, name)

    def predictor(
        self,
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        predict_keys: PredictKeys = None,
        checkpoint_path: str | None = None,
        reload: bool = False,
    ) -> EstimatorPredictor:
        """Opens the model to answer batch after batch: built and loaded once.

        `with estimator.predictor() as predictor: predictor.predict({"x": array})`

        Args:
          serving_input_receiver_fn: Declares the inputs, as for `export_saved_model`; by default
            the features are the inputs.
          predict_keys: Which of model_fn's predictions to compute; by default all.
          checkpoint_path: The checkpoint; by default the latest. Without a checkpoint the
            variables are initialized.
          reload: Whether to load newer checkpoints as they appear.

        Returns:
          A context manager with `predict(batch)`, which several threads may call.

        Raises:
          ValueError: reload and checkpoint_path are both given, or predict_keys names no
            prediction.
        """
        self._prepare_checkpoints()
        return EstimatorPredictor(
            self._make_job(None),
            serving_input_receiver_fn,
            lambda spec, receiver: select_predictions(spec.predictions, predict_keys),
            checkpoint_path,
            reload,
        )

    def export_saved_model(
        self,
        export_dir_base: str | os.PathLike[str],
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
        *,
        outputs: Collection[str] | None = None,
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
          outputs: Names of predictions, such as "class_ids" and "probabilities": the only
            signature, the default one, returns these. By default the model's export_outputs
            define the signatures.

        Returns:
          The path of the new directory, as bytes.

        Raises:
          ValueError: There is no checkpoint, no receiver function, model_fn gives no
            export_outputs, or there is no prediction with a name of `outputs`.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        # Programs override this method with the arguments of tf.estimator.
        options: dict[str, Any] = {} if outputs is None else {"outputs": outputs}
        return self._export_all_saved_models(
            export_dir_base,
            {experimental_mode: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            **options,
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
        outputs: Collection[str] | None = None,
    ) -> bytes:
        self._prepare_checkpoints()
        return saved_model.export(
            self._make_job(None),
            os.fsdecode(export_dir_base),
            input_receiver_fn_map,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            latest_checkpoint=self.latest_checkpoint,
            strip_default_attrs=strip_default_attrs,
            outputs=outputs,
        )
