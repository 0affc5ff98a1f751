"""A built model with a session, which stays open for later calls.

A call of `evaluate` or `predict` needs a graph, a session and a checkpoint's variables. The next
call in the same mode only builds its input in the same graph, and loads the variables again if the
checkpoint is another one.
"""

import contextlib
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import compute_fingerprint
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.inputs.external_arrays import release_arrays
from estimator_train.engine.inputs.reused_input import InputSlot, InputStart
from estimator_train.engine.loops.prepared_calls import PreparedCalls
from estimator_train.engine.model_cache import ReusedInput
from estimator_train.engine.sessions.built_model import BuiltModel
from estimator_train.engine.sessions.restore import prepare_restore
from estimator_train.engine.tf_internals import graph_edits, iterators, sessions

# Each imported input leaves its operations in the graph; past these limits a model is rebuilt.
_MAX_IMPORTED = 100
_MAX_IMPORTED_BYTES = 64 * 2**20


def open_restored_session(
    graph: tf.Graph,
    scaffold: tf.compat.v1.train.Scaffold,
    config: tf.compat.v1.ConfigProto,
    checkpoint_path: str | None,
) -> tf.compat.v1.Session:
    """Opens a raw session with a checkpoint's variables.

    Args:
      graph: The graph; this function finalizes it.
      scaffold: The model's Scaffold.
      config: Configuration of the session.
      checkpoint_path: The checkpoint, or None to initialize the variables.
    """
    with graph.as_default(), prepare_restore(checkpoint_path, not scaffold.saver):
        creator = tf.compat.v1.train.ChiefSessionCreator(
            scaffold, config=config, checkpoint_filename_with_path=checkpoint_path
        )
        return creator.create_session()


class OpenModel:
    """Model with a session that holds a checkpoint's variables.

    Args:
      mode: The mode that the model was built in.
      built: The model.
      session_config: Configuration of its session.
      checkpoint_path: The first checkpoint.
      context: The Estimator, as it was when the model was built.
      key: Key of the input that the model was built on, to start it again; None for an input that
        is used once.
    """

    def __init__(
        self,
        mode: str,
        built: BuiltModel[Any],
        session_config: tf.compat.v1.ConfigProto,
        checkpoint_path: str,
        context: EstimatorContext,
        key: ReusedInput | None = None,
    ) -> None:
        self.mode = mode
        self.context = context
        self.built = built
        self._slot = InputSlot(built.graph, built.inputs)
        first = self._slot.prepare_first(starts_again=bool(key))
        self._starts = {key: first} if key else {}
        self._imported: list[InputStart] = []
        self._by_name = not built.scaffold.saver  # The session adds a saver later.
        self.session = open_restored_session(
            built.graph, built.scaffold, session_config, checkpoint_path
        )
        # Also called when Python exits, while threads still run: a session that Python destroys
        # later waits for ever for a generator that is the input of unread predictions.
        weakref.finalize(self, self.session.close)
        self.calls = PlainSession(self.session)
        graph_edits.reopen(built.graph)
        self._loaded = _find_fingerprint(checkpoint_path)
        first(self.session)
        if not key:
            release_arrays(built.graph)
        self._release_op = _build_release_op(built.graph, built.inputs.iterator)
        self._releasing: threading.Thread | None = None

    @property
    def needs_rebuild(self) -> bool:
        """Whether the graph has grown too large through imported inputs."""
        size = sum(start.size for start in self._imported)
        return len(self._imported) >= _MAX_IMPORTED or size > _MAX_IMPORTED_BYTES

    def take_input(
        self, make: Callable[[], Any], prepare: Callable[[], Any], key: ReusedInput | None = None
    ) -> bool:
        """Builds the input of the next call and starts it.

        Args:
          make: Calls the user's input_fn.
          prepare: Called before `make` in the graph of the input.
          key: Key of the input; an input whose key is known only starts again.

        Returns:
          False if the input has another structure than the one that the model was built on.
        """
        self._wait_for_release()
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
        """Loads a checkpoint's variables, unless they are loaded, and resets local variables."""
        scaffold = self.built.scaffold
        if not _exists(checkpoint_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {checkpoint_path}")
        if self._loaded != _find_fingerprint(checkpoint_path):
            with (
                self.built.graph.as_default(),
                prepare_restore(checkpoint_path, self._by_name),
            ):
                scaffold.saver.restore(self.session, checkpoint_path)
            self._loaded = _find_fingerprint(checkpoint_path)
        self.session.run(scaffold.local_init_op)

    def release_input_async(self) -> None:
        """Releases the input in a thread: tf.data may take 0.1 s to end its threads.

        A generator of predictions that Python closes when it exits does not release its input:
        `Thread.start` would wait for a thread that Python no longer runs.
        """
        if self._release_op is not None and not sys.is_finalizing():
            self._releasing = threading.Thread(target=self._release_input, name="input-release")
            self._releasing.start()

    def _release_input(self) -> None:
        with contextlib.suppress(tf.errors.OpError):  # The next input replaces this one anyway.
            self.session.run(self._release_op)

    def _wait_for_release(self) -> None:
        if self._releasing is not None:
            self._releasing.join()
            self._releasing = None

    def close(self) -> None:
        """Closes the session."""
        self._wait_for_release()
        self.session.close()


class PlainSession:
    """Raw session with the methods of a MonitoredSession that a call needs."""

    def __init__(self, session: tf.compat.v1.Session) -> None:
        self.raw = session
        self._prepared = PreparedCalls()
        self._short: dict[tuple[str, ...], Callable[[], list[Any]]] = {}

    def run(self, fetches: Any, feed_dict: dict[Any, Any] | None = None) -> Any:
        """Runs the fetches."""
        if feed_dict:
            return self.raw.run(fetches, feed_dict)
        return self._prepared.run(self.raw, fetches)

    def make_short_call(self, tensors: Sequence[tf.Tensor]) -> Callable[[], list[Any]]:
        """Returns a function that computes tensors in the caller's thread."""
        names = tuple(tensor.name for tensor in tensors)
        if names not in self._short:
            self._short[names] = sessions.prepare_session_call(
                self.raw, [], tensors, in_this_thread=True
            )
        return self._short[names]

    def should_stop(self) -> bool:
        """Returns False: only the end of the input stops the session."""
        return False


def _build_release_op(graph: tf.Graph, iterator: Any) -> tf.Operation | None:
    """Adds an operation that replaces an input by an empty one; None for other elements."""
    specs = tf.nest.flatten(iterator.element_spec)
    if not all(isinstance(spec, tf.TensorSpec) for spec in specs):
        return None
    with graph.as_default(), tf.name_scope("no_input"), tf.device("/cpu:0"):
        empty = tuple(tf.zeros([0, *_choose_shape(spec)], spec.dtype) for spec in specs)
        options = tf.data.Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.autotune.enabled = False
        dataset = tf.data.Dataset.from_tensor_slices(empty).with_options(options)
        return tf.raw_ops.MakeIterator(
            dataset=tf.data.experimental.to_variant(dataset),
            iterator=iterators.find_iterator_handle(iterator),
        )


def _choose_shape(spec: tf.TensorSpec) -> list[int]:
    """Returns a shape that matches a spec."""
    return [] if spec.shape.rank is None else [size or 0 for size in spec.shape.as_list()]


def ends_input(error_type: type[BaseException]) -> bool:
    """Returns whether an error means the end of the input, as for a MonitoredSession."""
    return error_type in (tf.errors.OutOfRangeError, StopIteration)


def _exists(checkpoint_path: str) -> bool:
    """Returns whether a checkpoint exists; TensorFlow's own function logs a deprecation."""
    files = (f"{checkpoint_path}.index", f"{checkpoint_path}-?????-of-?????", checkpoint_path)
    return any(tf.io.gfile.glob(pattern) for pattern in files)


def _find_fingerprint(checkpoint_path: str) -> tuple[Any, ...]:
    """Returns a fingerprint of a checkpoint, different after another is written to its path."""
    return compute_fingerprint(checkpoint_path + ".index")
