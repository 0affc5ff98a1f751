"""Estimator: a model_fn with a directory, and the verbs train, evaluate, predict and export."""

import contextlib
import copy
import os
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.cluster import EVALUATOR, PS
from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.checkpoints.reading import (
    saved_global_step,
    variable_names,
    variable_value,
)
from estimator_train.engine.checkpoints.warm_start import WarmStartSettings, settings_from
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_task import serve, taking_part
from estimator_train.engine.model_cache import ModelCache
from estimator_train.engine.run import evaluate, predict, train
from estimator_train.engine.user_functions import validate_model_fn
from estimator_train.estimator.config_defaults import complete_config
from estimator_train.estimator.export_methods import ExportVerbs
from estimator_train.estimator.overridden_members import refuse_overridden_members
from estimator_train.estimator.private_names import PrivateNames
from estimator_train.estimator_spec.spec import EstimatorSpec
from estimator_train.predictor.live import EstimatorPredictor, open_predictor
from estimator_train.run_config import RunConfig
from estimator_train.run_config.session_config import with_threads_that_fit
from estimator_train.run_config.topology import topology_of

_LOG = tf.get_logger()
# What an estimator sets of itself, which no member of a subclass may stand for.
_ATTRIBUTES = ("_config", "_model_fn", "_params", "_warm_start_settings", "_kept_models")
_Hooks: TypeAlias = Sequence[tf.compat.v1.train.SessionRunHook] | None


class Estimator(PrivateNames, ExportVerbs):
    """Trains and evaluates models (the v1 class; `estimator_train.Estimator` is its v2 form).

    Everything an estimator learns is in its `model_dir`: each call builds its graph anew and goes
    on from the latest checkpoint there. Subclasses wrap a model_fn; they cannot override members.

    Args:
      model_fn: Function of `features` and any of `labels`, `mode`, `params`, `config`, which
        returns an `EstimatorSpec`. In mode PREDICT it is called without labels (None).
      model_dir: Directory of checkpoints and event files, a string or path; by default the
        config's, else a temporary directory that stays.
      config: A `RunConfig`; by default one with the defaults and TF_CONFIG's cluster.
      params: Hyper-parameters for model_fn and input_fns, usually a dict; copied.
      warm_start_from: First values of variables where model_dir has no checkpoint: the path of a
        checkpoint, of a directory with checkpoints or of a SavedModel, or `WarmStartSettings`.

    Raises:
      ValueError: model_fn has illegal arguments, model_dir contradicts the config's, config is no
        RunConfig, or a subclass overrides members.
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: str | WarmStartSettings | None = None,
    ) -> None:
        self._assert_members_are_not_overridden(self)
        self._config = complete_config(config, model_dir)
        _LOG.info("Using config: %s", vars(self._config))
        validate_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy({} if params is None else params)
        self._warm_start_settings = settings_from(warm_start_from)
        self._kept_models: ModelCache[Any] = ModelCache()
        self._topology = topology_of(self._config)
        self._sessions_here = with_threads_that_fit(self._config.session_config)

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and event files."""
        return self._config.model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the configuration, model_dir filled in."""
        return self._config.replace()

    @property
    def params(self) -> Any:
        """A copy of the hyper-parameters."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model_fn as a function of (features, labels, mode, config), params bound."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    @staticmethod
    def _assert_members_are_not_overridden(estimator: "Estimator") -> None:
        """Programs that do override members put a function that does nothing in its place."""
        refuse_overridden_members(type(estimator), [*dir(Estimator), *_ATTRIBUTES])

    def dry_run(self, train_spec: Any, eval_spec: Any) -> Any:
        """Runs two steps, one evaluation batch, one export and one served prediction.

        All of it happens in a temporary directory: a job that would fail after hours fails now. See
        `estimator_train.training.dry_run`.

        Args:
          train_spec: The `TrainSpec` of the job.
          eval_spec: Its `EvalSpec`, or a list of them.
        """
        # What is built from estimators stands above them, so it is found by name.
        return pkgutil.resolve_name("estimator_train.training.dry_run:dry_run")(
            self, train_spec, eval_spec
        )

    def close(self) -> None:
        """Releases the models that `evaluate` and `predict` keep open for their next call."""
        self._kept_models.close()

    def latest_checkpoint(self) -> str | None:
        """Returns the path prefix of the latest checkpoint in model_dir, or None."""
        return latest_checkpoint(self.model_dir)

    def get_variable_names(self) -> list[str]:
        """Returns the names of all variables in the latest checkpoint.

        Raises:
          ValueError: There is no checkpoint.
        """
        return variable_names(self.model_dir)

    def get_variable_value(self, name: str) -> Any:
        """Returns a variable's value in the latest checkpoint, a NumPy array.

        Raises:
          ValueError: There is no checkpoint.
        """
        return variable_value(self.model_dir, name)

    def eval_dir(self, name: str | None = None) -> str:
        """Returns the directory of an evaluation's event files.

        Args:
          name: The evaluation's name; by default there is one without a name.
        """
        return os.path.join(self.model_dir, "eval_" + name if name else "eval")

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: _Hooks = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener] | None = None,
    ) -> "Estimator":
        """Trains from the latest checkpoint on, until the steps are done or the input ends.

        In a cluster this starts the server of this process's task; a parameter server serves
        until the others have ended their call.

        Args:
          input_fn: Function of any of `mode`, `params`, `config`, `input_context`, which returns a
            Dataset of (features, labels), a pair of tensors, or features alone.
          hooks: SessionRunHooks for the training session.
          steps: Steps to train on top of those that were trained; by default no limit.
          max_steps: Global step to stop at; nothing is done where it was reached before.
          saving_listeners: Called before and after each checkpoint.

        Returns:
          This estimator.

        Raises:
          ValueError: Both steps and max_steps are given, or one is not positive, or this process
            is the evaluator of its cluster.
          TypeError: A hook is not a SessionRunHook, or a listener not a CheckpointSaverListener.
        """
        if self._config.task_type == EVALUATOR:
            raise ValueError(
                "Train has been called wrong configuration. Please use "
                "tf.estimator.train_and_evaluate which calls proper API according to given "
                f"configuration. Current configuration: {vars(self._config)}."
            )
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        _check_positive(steps=steps, max_steps=max_steps)
        found_hooks = _checked_hooks(hooks)
        listeners = _checked_listeners(saving_listeners)
        context = self._context()
        if self._config.task_type == PS:
            serve(self._config)
            return self
        in_cluster = taking_part(self._config, self._topology) if self._config.master else None
        with in_cluster or contextlib.nullcontext() as task:
            if max_steps is not None and saved_global_step(self.model_dir) >= max_steps:
                _LOG.info("Skipping training since max_steps has already saved.")
                return self
            if steps is not None or max_steps is not None:
                found_hooks.append(tf.compat.v1.train.StopAtStepHook(steps, max_steps))
            found_hooks += task.hooks(max_steps) if task else []
            loss = train.train(context, input_fn, found_hooks, listeners)
        _LOG.info("Loss for final step: %s.", loss)
        return self

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: _Hooks = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates a checkpoint and writes its metrics to `eval_dir(name)`.

        Args:
          input_fn: As for `train`.
          steps: Batches to evaluate; by default all of the input.
          hooks: SessionRunHooks for the evaluation session.
          checkpoint_path: The checkpoint; by default the latest, and freshly initialized variables
            where there is none.
          name: Keeps the metrics of several evaluation sets apart.

        Returns:
          Metric name to NumPy value, with `loss` (mean over batches) and `global_step`.

        Raises:
          ValueError: steps is not positive, or model_fn gives a metric a name that is taken.
        """
        _check_positive(steps=steps)
        found_hooks = _checked_hooks(hooks)
        return evaluate.evaluate(
            self._context(),
            input_fn,
            steps,
            found_hooks,
            checkpoint_path,
            name,
            self.eval_dir(name),
        )

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Sequence[str] | str | None = None,
        hooks: _Hooks = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields the predictions for an input; nothing runs before the first is asked for.

        Args:
          input_fn: As for `train`; labels are ignored.
          predict_keys: Which of model_fn's predictions to compute; by default all.
          hooks: SessionRunHooks for the prediction session.
          checkpoint_path: The checkpoint; by default the latest, and freshly initialized variables
            where there is none.
          yield_single_examples: False yields batches as model_fn returns them.

        Yields:
          NumPy values, or a dict of them where model_fn's predictions are a dict.

        Raises:
          ValueError: predict_keys names no prediction, or predictions differ in batch length.
        """
        found_hooks = _checked_hooks(hooks)
        yield from predict.predict(
            self._context(),
            input_fn,
            predict_keys if isinstance(predict_keys, str) else list(predict_keys or ()),
            found_hooks,
            checkpoint_path,
            yield_single_examples,
        )

    def predictor(
        self,
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        predict_keys: Sequence[str] | str | None = None,
        checkpoint_path: str | None = None,
        reload: bool = False,
    ) -> EstimatorPredictor:
        """Opens the model to answer batch after batch: built and loaded once.

        `with estimator.predictor() as predictor: predictor.predict({"x": array})`

        Args:
          serving_input_receiver_fn: For what is fed, as for `export_saved_model`; by default
            features are fed as they are.
          predict_keys: Which of model_fn's predictions to compute; by default all.
          checkpoint_path: The checkpoint; by default the latest, and freshly initialized variables
            where there is none.
          reload: Whether to go over to a newer checkpoint as soon as there is one.

        Returns:
          A context manager with `predict(batch)`, which several threads may call.

        Raises:
          ValueError: reload and checkpoint_path are both given, or predict_keys names no
            prediction.
        """
        return open_predictor(
            self._context(), serving_input_receiver_fn, predict_keys, checkpoint_path, reload
        )

    def _context(self) -> EstimatorContext:
        return EstimatorContext(
            model_fn=self._model_fn,
            params=self._params,
            config=self._config,
            model_dir=self._config.model_dir,
            topology=self._topology,
            session_config=self._sessions_here,
            warm_start=self._warm_start_settings,
            kept=self._kept_models,
        )


class EstimatorV2(Estimator):
    """Trains, evaluates, predicts with and exports a model: `estimator_train.Estimator`.

    Arguments and errors are those of `Estimator`, its v1 form.
    """

    @property
    def export_savedmodel(self) -> Any:
        """Gone in v2: always an AttributeError that names `export_saved_model`."""
        raise AttributeError(
            "`Estimator.export_savedmodel` has been deprecated. Please use `export_saved_model` "
            "instead."
        )


def _check_positive(**arguments: int | None) -> None:
    for name, value in arguments.items():
        if value is not None and value <= 0:
            raise ValueError(f"Must specify {name} > 0, given: {value}")


def _checked_hooks(hooks: _Hooks) -> list[tf.compat.v1.train.SessionRunHook]:
    """The hooks as a new list."""
    found = list(hooks or ())
    for hook in found:
        if not isinstance(hook, tf.compat.v1.train.SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return found


def _checked_listeners(
    listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener] | None,
) -> list[tf.compat.v1.train.CheckpointSaverListener]:
    """The listeners as a new list."""
    found = list(listeners or ())
    for listener in found:
        if not isinstance(listener, tf.compat.v1.train.CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}"
            )
    return found
