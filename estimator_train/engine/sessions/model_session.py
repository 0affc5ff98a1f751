"""The session of one call of evaluate or predict: a kept model's, or one of its own."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.inputs.input_fn import call_input_fn
from estimator_train.engine.inputs.start import start_hooks
from estimator_train.engine.model_cache import ReusedInputFn
from estimator_train.engine.sessions.open_model import Built, OpenModel, in_use
from estimator_train.engine.sessions.session import explained_restore, session_config
from estimator_train.estimator_spec.spec import ModeKeys


@dataclasses.dataclass
class Call:
    """One call's use of a model.

    Attributes:
      built: The model.
      session: The session to run it in.
      results: What `built.final` came to, once the session has ended.
    """

    built: Built
    session: Any
    results: Any = None


@contextlib.contextmanager
def model_session(
    context: EstimatorContext,
    mode: str,
    input_fn: Any,
    checkpoint_path: str | None,
    hooks: Sequence[Any],
    build: Callable[[], Built],
    *,
    master: str = "",
    strategy: Any = None,
) -> Iterator[Call]:
    """A model with a checkpoint's variables, its input at the start; the end of input ends it.

    A model is kept for the next call if nothing but its own operations takes part in a session: no
    hooks, no queues, no other machine, a dataset as input and a checkpoint as source.

    Args:
      context: The estimator that is run.
      mode: ModeKeys.EVAL or ModeKeys.PREDICT.
      input_fn: The user's input_fn.
      checkpoint_path: The checkpoint, or None to initialize the variables.
      hooks: Hooks of the caller.
      build: Builds the model in a new graph.
      master: Address that the session connects to.
      strategy: The strategy that `build` builds under.

    Yields:
      The call.
    """
    reusable = checkpoint_path is not None and not hooks and not master and strategy is None
    model = _reused(context, mode, input_fn, checkpoint_path) if reusable else None
    built = model.built if model else build()
    if reusable and model is None and _can_be_kept(built):
        assert checkpoint_path is not None
        settings = session_config(context)
        model = OpenModel(mode, built, settings, checkpoint_path, _key(input_fn))
    if model is not None:
        with in_use(context.kept, model) as session:
            call = Call(built, session)
            with session:
                yield call
            call.results = session.run(built.final)
        return
    final = tf.compat.v1.train.FinalOpsHook(built.final)
    all_hooks = [*start_hooks(built.inputs), *hooks, *built.hooks, final]
    call = Call(built, _own_session(context, built, checkpoint_path, all_hooks, master, strategy))
    # Hooks find the graph as the default one; between predictions the caller has its own.
    during = built.graph.as_default() if mode == ModeKeys.EVAL else contextlib.nullcontext()
    with during, _ended_in(built.graph, call.session):
        yield call
    call.results = final.final_ops_values


@contextlib.contextmanager
def _ended_in(graph: tf.Graph, session: tf.compat.v1.train.MonitoredSession) -> Iterator[None]:
    """Closes a session while its graph is the default one: hooks add to it at the end."""
    with contextlib.ExitStack() as stack:

        def end(*error: Any) -> bool | None:
            with graph.as_default():
                return session.__exit__(*error)

        stack.push(end)
        yield


def _reused(
    context: EstimatorContext, mode: str, input_fn: Any, checkpoint_path: Any
) -> OpenModel | None:
    """The model that an earlier call left open, with its input made anew; None if there is none."""
    model = context.kept.take(mode)
    if model is None:
        return None
    try:
        if model.take_input(
            lambda: call_input_fn(context, input_fn, mode),
            lambda: _prepare(context),
            _key(input_fn),
        ):
            model.load(checkpoint_path)
            return model
    except BaseException:
        model.close()
        raise
    model.close()
    return None


def _prepare(context: EstimatorContext) -> None:
    """Makes what stands before an input in every model's graph: its seeds count operations."""
    if context.config.tf_random_seed is not None:
        tf.compat.v1.set_random_seed(context.config.tf_random_seed)
        tf.compat.v1.train.create_global_step()


def _key(input_fn: Any) -> ReusedInputFn | None:
    return input_fn if isinstance(input_fn, ReusedInputFn) else None


def _can_be_kept(built: Built) -> bool:
    queue_runners = built.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
    return built.inputs.iterator is not None and not built.hooks and not queue_runners


def _own_session(
    context: EstimatorContext,
    built: Built,
    checkpoint_path: str | None,
    hooks: Sequence[Any],
    master: str,
    strategy: Any,
) -> tf.compat.v1.train.MonitoredSession:
    """A session that runs hooks and queues, for one call."""
    with built.graph.as_default(), explained_restore(checkpoint_path, not built.scaffold.saver):
        return tf.compat.v1.train.MonitoredSession(
            tf.compat.v1.train.ChiefSessionCreator(
                scaffold=built.scaffold,
                master=master,
                config=session_config(context, strategy),
                checkpoint_filename_with_path=checkpoint_path,
            ),
            hooks=hooks,
        )
