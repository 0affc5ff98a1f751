"""Evaluation of the variables of a running training, without a checkpoint."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.hook_types import EveryNStepsHook, Hook
from estimator_train.engine.inputs.start import start_hooks
from estimator_train.engine.run import history
from estimator_train.engine.run.evaluate import (
    START_MESSAGE,
    build_evaluation,
    log_end,
    run_batches,
    write_results,
)
from estimator_train.engine.sessions.session import make_session_config
from estimator_train.estimator import Estimator
from estimator_train.estimator_spec.spec import ModeKeys, check_call
from estimator_train.keras.checkpoints.object_checkpoints import ObjectBasedSaver

_LOG = tf.get_logger()


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
        self._context = self._estimator._engine_context(ModeKeys.EVAL)
        self._built = build_evaluation(self._context, self._input_fn)
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
                    scaffold, config=make_session_config(self._context)
                ),
                hooks=[*start_hooks(built.inputs), *self._hooks, *built.hooks, final],
            )
            with evaluation:
                run_batches(evaluation, built.fetches, self._steps)
            log_end(start)
            results = final.final_ops_values
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
