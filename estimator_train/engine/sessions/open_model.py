"""A built model with a session over it, which the engine may keep open for the next call.

A call of `evaluate` or `predict` needs a graph, a session and a checkpoint's variables. The next
call in the same mode then only makes its input anew in the kept graph, and loads the variables
again if the checkpoint is another one.
"""

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints.integrity import stamp
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.inputs.outside_arrays import release_arrays
from estimator_train.engine.inputs.reused_input import InputSlot, Start
from estimator_train.engine.inputs.start import untuned
from estimator_train.engine.loops.prepared_calls import PreparedCalls
from estimator_train.engine.model_cache import ModelCache, ReusedInputFn
from estimator_train.engine.sessions.session import explained_restore, restored_session

# Each imported input leaves its operations in the graph: past these a model is built anew.
_MOST_IMPORTED = 100
_MOST_IMPORTED_BYTES = 64 * 2**20


@dataclasses.dataclass(frozen=True)
class Built:
    """A model's graph, ready for a session.

    Attributes:
      graph: The graph.
      inputs: What a step reads.
      scaffold: The model's Scaffold.
      hooks: Hooks of the model, for the session.
      fetches: What the call computes, in its own terms.
      final: Tensors to read when the input has ended.
    """

    graph: tf.Graph
    inputs: Inputs
    scaffold: tf.compat.v1.train.Scaffold
    hooks: Sequence[Any]
    fetches: Any
    final: Any = ()


class OpenModel:
    """A built model with a session that holds a checkpoint's variables.

    Args:
      mode: The mode it was built in.
      built: The model's graph.
      session_config: Configuration of its session.
      checkpoint_path: The checkpoint that is loaded first.
      key: What the input that it was built on is known by.
    """

    def __init__(
        self,
        mode: str,
        built: Built,
        session_config: tf.compat.v1.ConfigProto,
        checkpoint_path: str,
        key: ReusedInputFn | None = None,
    ) -> None:
        self.mode = mode
        self.built = built
        self._slot = InputSlot(built.graph, built.inputs)
        with built.graph.as_default():
            first = Start((untuned(built.inputs.initializer, built.inputs.iterator),), {})
        self._starts = {key: first} if key else {}
        self._imported: list[Start] = []
        self._by_name = not built.scaffold.saver  # Later it has the one of the session.
        self.session = restored_session(
            built.graph, built.scaffold, session_config, checkpoint_path
        )
        self.calls = PlainSession(self.session)
        tf_internals.reopen(built.graph)
        self._loaded = _identity(checkpoint_path)
        first(self.session)
        if not key:
            release_arrays(built.graph)
        self._emptied = self._slot.emptied()
        self._rest: threading.Thread | None = None

    @property
    def worn(self) -> bool:
        """Whether its graph holds so many inputs that it is better built anew."""
        size = sum(start.size for start in self._imported)
        return len(self._imported) >= _MOST_IMPORTED or size > _MOST_IMPORTED_BYTES

    def take_input(
        self, make: Callable[[], Any], prepare: Callable[[], Any], key: ReusedInputFn | None = None
    ) -> bool:
        """Makes the next call's input and starts it.

        Args:
          make: Calls the user's input_fn.
          prepare: Called before it in the graph of the input.
          key: What the input is known by; one that was here before only starts again.

        Returns:
          False if the input is of another structure than the one that the model was built on.
        """
        self._wait_for_rest()
        start = self._starts.get(key) if key else None
        if start is None:
            start = self._slot.take(make, prepare)
            if start is None:
                return False
            if start.source is not None:
                self._imported.append(start)
            if key:
                self._starts[key] = start
        start(self.session)
        if start.source is not None and not key:
            release_arrays(start.source)
        return True

    def load(self, checkpoint_path: str) -> None:
        """Loads a checkpoint's variables, unless they are loaded, and resets all others."""
        scaffold = self.built.scaffold
        if not _exists(checkpoint_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {checkpoint_path}")
        if self._loaded != _identity(checkpoint_path):
            with self.built.graph.as_default(), explained_restore(checkpoint_path, self._by_name):
                scaffold.saver.restore(self.session, checkpoint_path)
            self._loaded = _identity(checkpoint_path)
        self.session.run(scaffold.local_init_op)

    def rest(self) -> None:
        """Has a thread free what the input holds: its own threads may take 0.1 s to end."""
        if self._emptied is not None:
            self._rest = threading.Thread(target=self._empty, name="input-release")
            self._rest.start()

    def _empty(self) -> None:
        with contextlib.suppress(tf.errors.OpError):  # The next input replaces it all the same.
            self.session.run(self._emptied)

    def _wait_for_rest(self) -> None:
        if self._rest is not None:
            self._rest.join()
            self._rest = None

    def close(self) -> None:
        """Ends the session."""
        self._wait_for_rest()
        self.session.close()


class PlainSession:
    """A raw session that, like a MonitoredSession, takes the end of the input as no error."""

    def __init__(self, session: tf.compat.v1.Session) -> None:
        self.raw = session
        self._prepared = PreparedCalls()
        self._short: dict[tuple[str, ...], Callable[[], list[Any]]] = {}

    def run(self, fetches: Any) -> Any:
        """Runs the fetches."""
        return self._prepared.run(self.raw, fetches)

    def short_call(self, tensors: Sequence[tf.Tensor]) -> Callable[[], list[Any]]:
        """A function that computes tensors in the caller's thread; the same one for the same."""
        names = tuple(tensor.name for tensor in tensors)
        if names not in self._short:
            self._short[names] = tf_internals.session_call(
                self.raw, [], tensors, in_this_thread=True
            )
        return self._short[names]

    def should_stop(self) -> bool:
        """Nothing but the end of the input stops it."""
        return False

    def __enter__(self) -> "PlainSession":
        return self

    def __exit__(self, exception_type: type | None, *_: Any) -> bool:
        return exception_type in (tf.errors.OutOfRangeError, StopIteration)


@contextlib.contextmanager
def in_use(kept: "ModelCache[OpenModel]", model: OpenModel) -> Iterator[PlainSession]:
    """A kept model's session for one call; it is kept on if the call ends well."""
    try:
        yield model.calls
    except GeneratorExit:
        _rested(kept, model)
        raise
    except BaseException:
        model.close()
        raise
    _rested(kept, model)


def _rested(kept: "ModelCache[OpenModel]", model: OpenModel) -> None:
    model.rest()
    kept.give_back(model)


def _exists(checkpoint_path: str) -> bool:
    """As `tf.compat.v1.train.checkpoint_exists`, which logs at each call that it is deprecated."""
    files = (f"{checkpoint_path}.index", f"{checkpoint_path}-?????-of-?????", checkpoint_path)
    return any(tf.io.gfile.glob(pattern) for pattern in files)


def _identity(checkpoint_path: str) -> tuple[Any, ...]:
    """What tells a checkpoint from another that was written later under the same name."""
    return stamp(checkpoint_path + ".index")
