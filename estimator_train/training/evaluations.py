"""Evaluations of a training: of checkpoints, when they are due, and of variables in memory."""

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.checkpoints.reading import retry_on_deleted_checkpoint
from estimator_train.engine.checkpoints.save_schedule import CheckpointStepsListener
from estimator_train.engine.inputs.start import start_hooks
from estimator_train.engine.job import ReusedInput
from estimator_train.engine.run import history
from estimator_train.engine.run.evaluate import (
    START_MESSAGE,
    ResultsWithoutBatches,
    build_evaluation,
    log_end,
    run_batches,
    take_results,
    write_results,
)
from estimator_train.engine.sessions.session import make_session_config
from estimator_train.engine.types import EveryNStepsHook, Hook
from estimator_train.estimator import Estimator
from estimator_train.estimator_spec import ModeKeys, check_call
from estimator_train.keras.tf_keras.checkpoints import ObjectBasedSaver
from estimator_train.lifecycle import preemption
from estimator_train.training.exporters import Exporter
from estimator_train.training.specs import EvalSpec

_LOG = tf.get_logger()


class Evaluation:
    """Evaluations of one EvalSpec.

    Args:
      estimator: The Estimator that is trained.
      spec: The evaluation and its exporters.

    Attributes:
      spec: The evaluation and its exporters.
      metrics: Result of the last evaluation; None before the first.
      exports: Results of the exporters after the last evaluation; None before the first of this
        job.
      last_step: The global step that was evaluated last, or at which training began.
    """

    def __init__(self, estimator: Estimator, spec: EvalSpec) -> None:
        self.spec = spec
        self.metrics: dict[str, Any] | None = None
        self.exports: list[Any] | None = None
        self.last_step = 0
        self._estimator = estimator
        self._input = ReusedInput(spec.input_fn)
        self._started: float | None = None
        self._path: str | None = None
        self._was_final = False

    def is_due(self, step: int) -> bool:
        """Returns whether an evaluation of a checkpoint is due."""
        if self.metrics is not None and step == self.last_step:
            return False  # A session that recovers saves the step of the last checkpoint again.
        every = self.spec.every_steps
        if every is not None:
            return step // every > self.last_step // every
        secs = self.spec.throttle_secs
        return self._started is None or time.monotonic() - self._started >= secs

    def run(self, is_final: bool) -> None:
        """Evaluates the latest checkpoint and calls the exporters.

        Args:
          is_final: Whether the checkpoint is the last of the training.
        """
        self._started = time.monotonic()
        retry_on_deleted_checkpoint(self._estimator.model_dir, self._evaluate)
        assert self.metrics is not None
        self._export(self.metrics, is_final)

    def _evaluate(self, path: str | None) -> None:
        with self._input.activate():
            self.metrics = self._estimator.evaluate(
                self.spec.input_fn,
                steps=self.spec.steps,
                hooks=self.spec.hooks,
                checkpoint_path=path,
                name=self.spec.name,
            )
        self._path, self.last_step = path, int(self.metrics["global_step"])

    def read_recorded(self) -> None:
        """Reads the metrics of the latest checkpoint, which an earlier job evaluated, if any."""
        path = self._estimator.latest_checkpoint()
        if path is not None:
            name = self.spec.name or ""
            self.metrics = history.read_metrics(self._estimator.model_dir, name, path)
            if self.metrics is not None:
                _LOG.info("Training had ended: the metrics are those that history.jsonl has.")

    def finish(self, step: int) -> None:
        """Evaluates and exports the last checkpoint, unless that is done.

        Args:
          step: Its global step.
        """
        if self.metrics is None or self.last_step != step:
            self.run(is_final=True)
        elif not self._was_final:
            self._export(self.metrics, is_final=True)

    def _export(self, metrics: dict[str, Any], is_final: bool) -> None:
        self._was_final = is_final
        self.exports = [self._run_exporter(each, metrics, is_final) for each in self.spec.exporters]

    def _run_exporter(self, exporter: Exporter, metrics: dict[str, Any], is_final: bool) -> Any:
        model_dir = self._estimator.model_dir

        def export(path: str | None) -> Any:
            return exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(model_dir, "export", exporter.name),
                checkpoint_path=path or "",
                eval_result=metrics,
                is_the_final_export=is_final,
            )

        return retry_on_deleted_checkpoint(model_dir, export, self._path)


class EvaluationListener(CheckpointStepsListener):
    """Listener that evaluates written checkpoints, and always the last one.

    Args:
      evaluations: The evaluations.
      max_steps: The global step at which training ends, or None.
      after_round: Called after each checkpoint but the last, once all specs have evaluated it.
    """

    def __init__(
        self,
        evaluations: Sequence[Evaluation],
        max_steps: int | None,
        after_round: Callable[[], None],
    ) -> None:
        self.every_steps = frozenset(
            evaluation.spec.every_steps
            for evaluation in evaluations
            if evaluation.spec.every_steps is not None
        )
        self._evaluations = evaluations
        self._max_steps = max_steps
        self._after_round = after_round

    def begin(self) -> None:
        """Records that training starts, with a checkpoint that is not evaluated."""
        self._is_first_save = True

    def needs_checkpoint(self, global_step: int) -> bool:
        """Returns whether `after_save` will need the checkpoint of a global step."""
        due = any(evaluation.is_due(global_step) for evaluation in self._evaluations)
        return due and not self._is_first_save

    def after_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Runs the evaluations that are due."""
        if self._is_first_save:
            self._is_first_save = False
            for evaluation in self._evaluations:
                evaluation.last_step = global_step_value
            return
        # Training ends the job after all hooks have seen the step.
        with contextlib.suppress(preemption.Preempted):
            preemption.raise_if_requested("evaluating")
            self._evaluate(global_step_value)

    def _evaluate(self, global_step: int) -> None:
        # bool: the step is an integer of NumPy, and exporters may write the answer as JSON.
        reached = self._max_steps is not None and bool(global_step >= self._max_steps)
        for evaluation in self._evaluations:
            if evaluation.is_due(global_step):
                evaluation.run(is_final=reached or self.is_ending)
            elif evaluation.spec.every_steps is None:
                _LOG.info(
                    "Skip the current checkpoint eval due to throttle secs (%s secs).",
                    evaluation.spec.throttle_secs,
                )
        if not self.is_ending and all(e.metrics is not None for e in self._evaluations):
            self._after_round()

    def end(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Evaluates and exports the last checkpoint."""
        with contextlib.suppress(preemption.Preempted):  # The next start does it.
            preemption.raise_if_requested("evaluating")
            for evaluation in self._evaluations:
                evaluation.finish(global_step_value)


class InMemoryEvaluatorHook(EveryNStepsHook):
    """Hook that evaluates at the start of training, every n-th step and at the end.

    The metrics go to the same event files and history as those of `Estimator.evaluate`. Training
    waits while an evaluation runs.

    Args:
      estimator: The Estimator that is trained; on one machine.
      input_fn: As for `Estimator.evaluate`.
      steps: Batches of each evaluation; by default all of the input.
      hooks: SessionRunHooks for the evaluation sessions.
      name: Keeps the metrics of several evaluation sets apart.
      every_n_iter: Training steps from one evaluation to the next.

    Raises:
      ValueError: every_n_iter or steps is not positive, or the Estimator is part of a cluster.
      TypeError: a hook is not a SessionRunHook.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Hook] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.cluster_spec or estimator.config.num_worker_replicas != 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        all_hooks = check_call(hooks, steps=steps)
        self._estimator = estimator
        self._input_fn = input_fn
        self._steps = steps
        self._hooks = all_hooks
        self._name = name
        self._eval_dir = estimator.eval_dir(name)
        super().__init__(every_n_iter)

    def begin(self) -> None:
        """Builds the evaluation in a graph besides that of the training.

        Raises:
          ValueError: model_fn gives a Scaffold with its own saver or init_fn.
        """
        self._step = 0
        self._training = tf.compat.v1.get_default_graph()
        self._job = self._estimator._make_job(ModeKeys.EVAL)
        self._built = build_evaluation(self._job, self._input_fn)
        saver = self._built.scaffold.saver
        if saver and not isinstance(saver, ObjectBasedSaver):
            raise ValueError("InMemoryEvaluator does not support custom saver")
        if self._built.scaffold.init_fn:
            raise ValueError("InMemoryEvaluator does not support custom init_fn")

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Evaluates the first values.

        Raises:
          ValueError: The training has tables, or other state that is in no variable.
        """
        with self._training.as_default():
            others = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SAVEABLE_OBJECTS)
        if others:
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global variables. The "
                f"training has: {[other.name for other in others]}. Evaluate checkpoints instead."
            )
        self.act(session)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Evaluates the last values."""
        self.act(session)

    def act(self, session: tf.compat.v1.Session) -> None:
        """Evaluates the current values of the variables."""
        values = self._read_values(session)
        built = self._built
        _LOG.info(START_MESSAGE, time.strftime("%Y-%m-%dT%H:%M:%S"))
        start = time.monotonic()
        with built.graph.as_default():
            scaffold = tf.compat.v1.train.Scaffold(
                init_fn=lambda scaffold, session: _load(values, session),
                copy_from_scaffold=built.scaffold,
            )
            final = tf.compat.v1.train.FinalOpsHook(built.final)
            evaluation = tf.compat.v1.train.MonitoredSession(
                tf.compat.v1.train.ChiefSessionCreator(
                    scaffold, config=make_session_config(self._job)
                ),
                hooks=[*start_hooks(built.inputs), *self._hooks, *built.hooks, final],
            )
            with evaluation:
                run_batches(evaluation, built.fetches, self._steps)
            log_end(start)
            results = take_results(final.final_ops_values, self._input_fn)
            if isinstance(results, ResultsWithoutBatches):
                return
            write_results(results, None, self._eval_dir)
        entry = {"eval": self._name or "", "metrics": results, "checkpoint": ""}
        step = results[tf.compat.v1.GraphKeys.GLOBAL_STEP]
        history.append(self._estimator.model_dir, step, entry)

    def _read_values(self, session: tf.compat.v1.Session) -> dict[str, np.ndarray]:
        """Returns the values in the training session of the evaluation's variables, by name."""
        with self._built.graph.as_default():
            wanted = {variable.op.name for variable in tf.compat.v1.global_variables()}
        with self._training.as_default():
            variables = {
                variable.op.name: variable
                for variable in tf.compat.v1.global_variables()
                if variable.op.name in wanted
            }
        return session.run(variables)


def _load(values: dict[str, np.ndarray], session: tf.compat.v1.Session) -> None:
    """Assigns the values of the training to the variables of the default graph."""
    for variable in tf.compat.v1.global_variables():
        value = values.get(variable.op.name)
        if value is None:
            continue
        if not variable.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"The variable '{variable.op.name}' has shape {variable.shape} in evaluation and "
                f"{value.shape} in training."
            )
        # The initializer is an assignment that the graph already has.
        session.run(variable.initializer, {variable.initializer.inputs[1]: value})
