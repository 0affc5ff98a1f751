"""Methods of an Estimator that read its checkpoints, open its model or try a job out."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.checkpoints.reading import read_variable_names, read_variable_value
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.type_aliases import PredictKeys
from estimator_train.predictor.live import EstimatorPredictor, open_predictor

if TYPE_CHECKING:
    from estimator_train.estimator.estimator import Estimator


class ModelMethods:
    """Methods of Estimator on the model in its model_dir."""

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and event files."""
        raise NotImplementedError

    def _engine_context(self, mode: str | None) -> EstimatorContext:
        raise NotImplementedError

    def dry_run(self, train_spec: Any, eval_spec: Any) -> Any:
        """Runs two steps, one evaluation batch, one export and one served prediction.

        The dry run uses a temporary directory: a job that would fail after hours fails now. See
        `estimator_train.training.dry_run`.

        Args:
          train_spec: The `TrainSpec` of the job.
          eval_spec: Its `EvalSpec`, or a list of EvalSpecs.
        """
        # Jobs import Estimator, so that this module cannot import them.
        from estimator_train.training.dry_run import dry_run

        return dry_run(cast("Estimator", self), train_spec, eval_spec)

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
        return open_predictor(
            self._engine_context(None),
            serving_input_receiver_fn,
            predict_keys,
            checkpoint_path,
            reload,
        )
