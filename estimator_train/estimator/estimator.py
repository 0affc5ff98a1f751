"""Estimator: a model_fn with a directory, and the verbs train, evaluate, predict and export."""

import copy
import numbers
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

import tensorflow as tf

from estimator_train.cluster import EVALUATOR, PS
from estimator_train.engine.checkpoints.reading import has_reached_step
from estimator_train.engine.checkpoints.warm_start import WarmStartSettings, make_settings
from estimator_train.engine.job import (
    Job,
    ModelCache,
    call_model_fn,
    call_with_known,
    copy_params_of_call,
    make_together,
    validate_model_fn,
)
from estimator_train.engine.run import evaluate, predict, train
from estimator_train.engine.together.ps_server import serve
from estimator_train.engine.types import Hook, InputFn, Params, PredictKeys, TensorStructure
from estimator_train.estimator.construction import (
    complete_config,
    refuse_overridden_members,
    warn_of_members_without_effect,
)
from estimator_train.estimator.model_methods import ModelMethods
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys, check_call, check_instances
from estimator_train.run_config import RunConfig
from estimator_train.run_config.setting_values import limit_threads

_LOG = tf.get_logger()
_Hooks: TypeAlias = Sequence[Hook] | None
# Private attributes that programs assign, to the settings of RunConfig that they replace.
_ASSIGNED = {
    "_model_dir": "_model_dir",
    "_session_config": "_session_config",
    "_device_fn": "_device_fn",
    "_train_distribution": "_train_distribute",
    "_eval_distribution": "_eval_distribute",
}
_Estimator = TypeVar("_Estimator", bound="Estimator")


class Estimator(ModelMethods):
    """Trains and evaluates models (the v1 class; `estimator_train.Estimator` is its v2 form).

    An estimator keeps its variables in `model_dir`: each call builds a graph and continues from the
    latest checkpoint there. Subclasses wrap a model_fn and cannot override the public members.

    Args:
      model_fn: Function of `features` and any of `labels`, `mode`, `params`, `config`, which
        returns an `EstimatorSpec`. In mode PREDICT it is called without labels (None).
      model_dir: Directory of checkpoints and event files, a string or path; by default the
        config's, otherwise a temporary directory that is kept.
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
        params: Params = None,
        warm_start_from: str | WarmStartSettings | None = None,
    ) -> None:
        type(self)._assert_members_are_not_overridden(self)
        self._config = complete_config(config, model_dir)
        _LOG.info("Using config: %s", vars(self._config))
        validate_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy({} if params is None else params)
        self._warm_start_settings = (
            None if warm_start_from is None else make_settings(warm_start_from)
        )
        self._model_dir: str = self._config.model_dir
        self._session_config = self._config.session_config
        self._device_fn = self._config.device_fn
        self._train_distribution = self._config.train_distribute
        self._eval_distribution = self._config.eval_distribute
        self._open_models: ModelCache[Any] = ModelCache()
        self._failed_loops: set[str] = set()
        self._limited_session_config = limit_threads(self._config.session_config)
        warn_of_members_without_effect(type(self))

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and event files."""
        return self._model_dir

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

        def public_model_fn(
            features: TensorStructure, labels: TensorStructure, mode: str, config: RunConfig
        ) -> EstimatorSpec:
            spec: EstimatorSpec = self._call_model_fn(features, labels, mode, config)
            return spec

        return public_model_fn

    def close(self) -> None:
        """Releases the models that `evaluate` and `predict` keep open for their next call."""
        self._open_models.close()

    def eval_dir(self, name: str | None = None) -> str:
        """Returns the directory of an evaluation's event files.

        Args:
          name: The evaluation's name; by default there is one without a name.
        """
        return os.path.join(self.model_dir, "eval_" + name if name else "eval")

    def train(
        self,
        input_fn: InputFn,
        hooks: _Hooks = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener] | None = None,
    ) -> "Estimator":
        """Trains from the latest checkpoint until the steps are done or the input ends.

        In a cluster this starts the server of this process's task; a parameter server serves
        until the calls of the other tasks end.

        Args:
          input_fn: Function of any of `mode`, `params`, `config`, `input_context`, which returns a
            Dataset of (features, labels), a pair of tensors, or features alone.
          hooks: SessionRunHooks for the training session.
          steps: Steps to train in this call; by default no limit.
          max_steps: Global step to stop at; a call that starts there does nothing.
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
        all_hooks = check_call(hooks, steps=steps, max_steps=max_steps)
        message = "saving_listeners must be a list of CheckpointSaverListener, given: {}"
        kind = tf.compat.v1.train.CheckpointSaverListener
        listeners = [*check_instances(saving_listeners, kind, message)]
        config = self._update_config()
        if config.task_type == PS:
            serve(config)
            return self
        self._prepare_checkpoints()
        with make_together(config).join(max_steps) as cluster_hooks:
            if max_steps is not None and has_reached_step(self.model_dir, max_steps):
                _LOG.info("Skipping training since max_steps has already saved.")
                return self
            all_hooks += [*self._convert_train_steps_to_hooks(steps, max_steps), *cluster_hooks]
            loss = self._train_model(input_fn, all_hooks, listeners)
        _LOG.info("Loss for final step: %s.", loss)
        return self

    def evaluate(
        self,
        input_fn: InputFn,
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
          checkpoint_path: The checkpoint; by default the latest. Without a checkpoint the
            variables are initialized.
          name: Keeps the metrics of several evaluation sets apart.

        Returns:
          Metric name to NumPy value, with `loss` (mean over batches) and `global_step`.

        Raises:
          ValueError: steps is not positive, or model_fn gives a metric a name that is taken.
        """
        all_hooks = check_call(hooks, steps=steps)
        self._prepare_checkpoints()
        return evaluate.evaluate(
            self._make_job(ModeKeys.EVAL),
            input_fn,
            steps,
            all_hooks,
            checkpoint_path,
            name,
            self.eval_dir(name),
        )

    def predict(
        self,
        input_fn: InputFn,
        predict_keys: PredictKeys = None,
        hooks: _Hooks = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields the predictions for an input; nothing runs before the first `next`.

        Args:
          input_fn: As for `train`; labels are ignored.
          predict_keys: Which of model_fn's predictions to compute; by default all.
          hooks: SessionRunHooks for the prediction session.
          checkpoint_path: The checkpoint; by default the latest. Without a checkpoint the
            variables are initialized.
          yield_single_examples: False yields batches as model_fn returns them.

        Yields:
          NumPy values, or dicts of NumPy values if model_fn's predictions are a dict.

        Raises:
          ValueError: predict_keys names no prediction, or predictions differ in batch length.
        """
        all_hooks = check_call(hooks)
        self._prepare_checkpoints()
        yield from predict.predict(
            self._make_job(ModeKeys.PREDICT),
            input_fn,
            predict_keys if isinstance(predict_keys, str) else list(predict_keys or ()),
            all_hooks,
            checkpoint_path,
            yield_single_examples,
        )

    # Programs override, replace, call and assign the private members that follow, as those of
    # tf.estimator's Estimator.

    def _assert_members_are_not_overridden(self) -> None:
        refuse_overridden_members(type(self))

    def _convert_train_steps_to_hooks(self, steps: int | None, max_steps: int | None) -> list[Hook]:
        if steps is None and max_steps is None:
            return []
        # The sum of the global step and a larger number would overflow 64 bits. Tensors of int32
        # cannot be compared with it.
        if isinstance(steps, numbers.Integral):
            steps = min(steps, 2**62)
        return [tf.compat.v1.train.StopAtStepHook(steps, max_steps)]

    def _train_model(
        self,
        input_fn: InputFn,
        hooks: Sequence[Hook],
        saving_listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener],
    ) -> Any:
        job = self._make_job(ModeKeys.TRAIN)
        return train.train(job, input_fn, hooks, saving_listeners)

    def _call_input_fn(
        self,
        input_fn: InputFn,
        mode: str,
        input_context: tf.distribute.InputContext | None = None,
    ) -> Any:
        fallbacks = {}
        available = {**self._list_call_arguments(), "mode": mode}
        if input_context is not None:
            available["input_context"] = input_context
        else:  # An input_fn keeps its own default.
            fallbacks["input_context"] = tf.distribute.InputContext()
        return call_with_known(input_fn, available, fallbacks)

    def _call_model_fn(
        self, features: TensorStructure, labels: TensorStructure, mode: str, config: Any
    ) -> Any:
        given = {"features": features, "labels": labels, "mode": mode, "config": config}
        _LOG.info("Calling model_fn.")
        spec = call_model_fn(self._model_fn, {**self._list_call_arguments(), **given})
        _LOG.info("Done calling model_fn.")
        return spec

    def _create_global_step(self, graph: tf.Graph) -> tf.Variable:
        return tf.compat.v1.train.create_global_step(graph)

    def _create_and_assert_global_step(self, graph: tf.Graph) -> tf.Variable:
        step = self._create_global_step(graph)
        if step is not tf.compat.v1.train.get_global_step(graph):
            raise ValueError("_create_global_step must make the global step of the graph.")
        return step

    # The members that follow are not those of tf.estimator.

    def _make_job(self, mode: str | None) -> Job:
        """Returns one call of this Estimator for the engine.

        Args:
          mode: The ModeKeys value of train, evaluate or predict; None for exports and predictors.
        """
        del mode
        config, session_config = self._update_config(), self._limited_session_config
        if config is not self._config:
            session_config = limit_threads(config.session_config)
        return Job(
            estimator=self,
            model_fn=self._model_fn,
            # Looked up on the instance: what a program overrides or replaces takes effect.
            model_fn_member=self._call_model_fn,
            input_fn_member=self._call_input_fn,
            create_global_step=self._create_and_assert_global_step,
            params=self.params,
            config=config,
            session_config=session_config,
            warm_start=self._warm_start_settings,
            open_models=self._open_models,
            failed_loops=self._failed_loops,
        )

    def _prepare_checkpoints(self) -> None:
        """Converts the latest checkpoint before a verb reads it, if its format is an old one."""

    def _update_config(self) -> RunConfig:
        """Returns the RunConfig with the settings that a program assigned to the Estimator."""
        config = self._config
        for attribute, setting in _ASSIGNED.items():
            value = getattr(self, attribute)
            if value is not getattr(self._config, setting):
                config = config.replace() if config is self._config else config
                setattr(config, setting, value)
        return config

    def _list_call_arguments(self) -> dict[str, Any]:
        """Returns the params and config that model_fn and input_fn get in the current call."""
        params = copy_params_of_call(self)
        params = self.params if params is None else params
        return {"params": params, "config": self._update_config()}

    def _copy_for(self: _Estimator, model_dir: str) -> _Estimator:
        """Returns a copy of this Estimator that works in another directory."""
        copied = copy.copy(self)
        copied._config = self._config.replace(model_dir=model_dir)
        copied._model_dir = model_dir
        copied._open_models = ModelCache()
        return copied


class EstimatorV2(Estimator):
    """Trains, evaluates, predicts with and exports a model: `estimator_train.Estimator`.

    Arguments and errors are those of `Estimator`, its v1 form.
    """

    @property
    def export_savedmodel(self) -> Any:
        """Removed in v2: raises AttributeError that names `export_saved_model`."""
        raise AttributeError(
            "`Estimator.export_savedmodel` has been deprecated. Please use `export_saved_model` "
            "instead."
        )


def check_estimator(estimator: object) -> None:
    """Checks that an argument is an Estimator.

    Args:
      estimator: The argument.

    Raises:
      TypeError: It is not an Estimator.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
