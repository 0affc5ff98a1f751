"""Session calls that repeat: prepared once for their fetches, and run by the faster executor."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.tf_internals import graphs, sessions

_MAX_PREPARED = 32
# To prepare a call of fewer operations takes little time.
_MIN_OPERATIONS_OF_WIDER = 1000
# Calls that may compute more than their fetches, before the session prepares one of their own.
_MAX_WIDER_RUNS = 8
_WITHOUT_EFFECT = ("ReadVariableOp", "VarHandleOp")
# Histograms refuse NaN: a step without summaries must not end by it. The others take long.
_NOT_IN_WIDER = ("AudioSummary", "HistogramSummary", "ImageSummary")
# To hand an operation to another thread takes microseconds, which is little in longer steps.
_SHORT_STEP_SECS = 2e-3
# A second executor takes some tenths of a second to prepare, and hundreds of steps to measure: too
# long for a short training.
_SECS_BEFORE_TRIAL = 1.0
_STEPS_BEFORE_TRIAL = 5_000
# Number of calls that are measured.
TRIALS = 3
_CHANGE_FACTOR = 1.5


class PreparedCalls:
    """Cache of prepared session calls by their fetches.

    `Session.run` analyses its fetches at every call, which takes about as long as a training step
    of a small model.

    For each set of fetches, the session places and optimizes the graph again. A set that is part of
    a prepared one is therefore first run by that call, unless the graph is small, if the others of
    its fetches change nothing: a step at which no summary is due is the first without summaries.
    """

    def __init__(self) -> None:
        self._session: tf.compat.v1.Session | None = None
        self._calls: dict[Any, tuple[Any, Any]] = {}
        self._wider: dict[Any, tuple[_WiderCall | None, Any]] = {}

    def run(self, session: tf.compat.v1.Session, fetches: Any) -> Any:
        """Returns the values of `session.run(fetches)`.

        Args:
          session: A raw session.
          fetches: A structure of lists, tuples, dictionaries, tensors, operations and names.
        """
        if session is not self._session:
            self._session, self._calls, self._wider = session, {}, {}
        key = _make_key(fetches)
        if key not in self._calls:
            wider = self._find_wider(session.graph, key, fetches)
            if wider is not None:
                return wider.run(fetches)
            # `make_callable` does not accept empty fetches.
            if len(self._calls) >= _MAX_PREPARED or not _list_fetches(fetches):
                return session.run(fetches)
            # The cache holds the fetches, so that their id stays unique.
            self._calls[key] = (sessions.prepare_run(session, fetches), fetches)
        return self._calls[key][0]()

    def _find_wider(self, graph: tf.Graph, key: Any, fetches: Any) -> "_WiderCall | None":
        """Returns a prepared call that also computes the fetches; None if they need their own."""
        if not self._calls or len(self._wider) >= _MAX_PREPARED:
            return None
        if key not in self._wider:
            found = None
            if graph.version >= _MIN_OPERATIONS_OF_WIDER:
                calls = (call for call in self._calls.values() if _covers(graph, call[1], fetches))
                found = next(map(_WiderCall, calls), None)
            # The cache holds the fetches, so that their id stays unique.
            self._wider[key] = found, fetches
        wider, _ = self._wider[key]
        return wider if wider is not None and wider.runs < _MAX_WIDER_RUNS else None


class _WiderCall:
    """A prepared call whose values are those of some of its fetches.

    Args:
      call: The call and its fetches.

    Attributes:
      runs: The number of runs.
    """

    def __init__(self, call: tuple[Callable[[], Any], Any]) -> None:
        self._call, self._fetches = call
        self.runs = 0

    def run(self, fetches: Any) -> Any:
        """Returns the values of fetches that are all among those of the call."""
        self.runs += 1
        tensors = map(id, _list_fetches(self._fetches))
        values = dict(zip(tensors, _list_fetches(self._call()), strict=True))
        return _fill(fetches, lambda tensor: values[id(tensor)])


def _covers(graph: tf.Graph, wider: Any, fetches: Any) -> bool:
    """Returns whether a call of wider fetches has the effects of the fetches and no others."""
    wanted, computed = _list_fetches(fetches), _list_fetches(wider)
    if not wanted or not set(map(id, wanted)) <= set(map(id, computed)):
        return False
    try:
        elements = [graph.as_graph_element(fetch) for fetch in computed]
    except TypeError:
        return False  # A sparse tensor, whose value is several.
    own = set(map(id, wanted))
    needed = set(
        graphs.walk(
            _get_operation(element)
            for fetch, element in zip(computed, elements, strict=True)
            if id(fetch) in own
        )
    )

    def before(operation: tf.Operation) -> list[tf.Operation]:
        return [o for o in graphs.list_operations_before(operation) if o not in needed]

    others = graphs.walk(set(map(_get_operation, elements)) - needed, before)
    return not any(
        o.type in _NOT_IN_WIDER or (o.op_def.is_stateful and o.type not in _WITHOUT_EFFECT)
        for o in others
    )


def _get_operation(element: tf.Tensor | tf.Operation) -> tf.Operation:
    return element if isinstance(element, tf.Operation) else element.op


class DerivedCalls:
    """Cache of prepared session calls that compute fetches from known tensors of a step.

    Args:
      session: A raw session.
      known: Tensors whose values the caller knows after the step.
    """

    def __init__(self, session: tf.compat.v1.Session, known: Sequence[tf.Tensor]) -> None:
        self._session, self._known = session, known
        self._calls: dict[Any, tuple[Callable[..., Any] | None, Any]] = {}

    def prepare(self, fetches: Any) -> Callable[[Sequence[Any]], Any] | None:
        """Returns a function from the values of `known` to those of the fetches.

        Args:
          fetches: A structure of lists, tuples, dictionaries and tensors.

        Returns:
          The function; None if the fetches need more of the step than the known tensors.
        """
        key = _make_key(fetches)
        if key not in self._calls:
            if len(self._calls) >= _MAX_PREPARED:
                return None
            self._calls[key] = (self._prepare(fetches), fetches)
        return self._calls[key][0]

    def _prepare(self, fetches: Any) -> Callable[[Sequence[Any]], Any] | None:
        tensors = _list_fetches(fetches)
        if not all(isinstance(tensor, tf.Tensor) for tensor in tensors):
            return None
        others = list({t.ref() for t in tensors} - {t.ref() for t in self._known})
        if not all(self._can_derive(other.deref()) for other in others):
            return None
        call = None
        if others:
            call = sessions.prepare_session_call(
                self._session, self._known, [o.deref() for o in others], in_this_thread=True
            )
        places = {t.ref(): place for place, t in enumerate(self._known)}
        places |= {other: len(places) + place for place, other in enumerate(others)}

        def derive(values: Sequence[Any]) -> Any:
            found = [*values, *(call(*values) if call else ())]
            return _fill(fetches, lambda tensor: found[places[tensor.ref()]])

        return derive

    def _can_derive(self, tensor: tf.Tensor) -> bool:
        """Returns whether a tensor depends on known tensors and constants alone."""
        known = {tensor.name for tensor in self._known}

        def before(operation: tf.Operation) -> list[tf.Operation]:
            inputs = [t.op for t in operation.inputs if t.name not in known]
            return [*operation.control_inputs, *inputs]

        return not any(
            operation.op_def.is_stateful or operation.type == "Placeholder"
            for operation in graphs.walk([tensor.op], before)
        )


def _list_fetches(fetches: Any) -> list[Any]:
    """Returns the fetches of a structure, in its order."""
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        return [fetch for part in fetches for fetch in _list_fetches(part)]
    return [fetches]


def _fill(fetches: Any, find: Callable[[Any], Any]) -> Any:
    """Returns the structure of the fetches with the value of each, as `Session.run` does."""
    if isinstance(fetches, dict):
        return {name: _fill(part, find) for name, part in fetches.items()}
    if isinstance(fetches, (list, tuple)):
        parts = [_fill(part, find) for part in fetches]
        make = getattr(fetches, "_make", type(fetches))
        return make(parts)
    return find(fetches)


def _make_key(fetches: Any) -> Any:
    if isinstance(fetches, (list, tuple)):
        return (type(fetches), *map(_make_key, fetches))
    if isinstance(fetches, dict):
        return (type(fetches), *((name, _make_key(value)) for name, value in fetches.items()))
    return fetches if isinstance(fetches, str) else id(fetches)


@dataclasses.dataclass
class TimedCall:
    """A way to run steps, with its times.

    Attributes:
      call: Runs steps.
      secs: Seconds per step of the last calls, without the first call, which prepares the graph.
      is_prepared: Whether the first call has run.
    """

    call: Callable[..., Any]
    secs: list[float] = dataclasses.field(default_factory=list)
    is_prepared: bool = False

    def run(self, steps: int, *arguments: Any) -> Any:
        """Returns the result of a call.

        Args:
          steps: Number of steps that the call runs.
          *arguments: Arguments of the call.
        """
        start = time.perf_counter()
        result = self.call(*arguments)
        if self.is_prepared:
            self.secs = [*self.secs[1 - TRIALS :], (time.perf_counter() - start) / steps]
        self.is_prepared = True
        return result

    @property
    def best(self) -> float | None:
        """The shortest time; None before there are enough calls."""
        return min(self.secs) if len(self.secs) >= TRIALS else None


class ChosenExecutor:
    """Executor that computes the same tensors repeatedly, in a thread pool or the calling thread.

    Short steps are faster if one thread runs their operations one after another. Both ways are
    measured after the loop has run for a second and 5,000 such steps, and again when the time of a
    step has changed.
    A loop of compiled steps has few operations, so that the calling thread always runs it.

    Args:
      tensors: The tensors to compute.
      compiled: Whether XLA compiles the steps.
    """

    def __init__(self, tensors: Sequence[tf.Tensor], compiled: bool = False) -> None:
        self._tensors = list(tensors)
        self._compiled = compiled
        self._session: tf.compat.v1.Session | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the executor of the current session is chosen."""
        return self._session is not None and (self._is_fixed or self._chosen_at is not None)

    def run(self, session: tf.compat.v1.Session, steps: int) -> list[Any]:
        """Returns the values of the tensors.

        Args:
          session: A raw session.
          steps: Number of steps that the call runs.
        """
        if session is not self._session:
            self._begin(session)
        start = time.perf_counter()
        values = self._current.run(steps)
        self._total += time.perf_counter() - start
        self._choose()
        return values

    def _begin(self, session: tf.compat.v1.Session) -> None:
        self._session = session
        self._total = 0.0
        self._chosen_at: float | None = None
        self._pool = TimedCall(sessions.prepare_run(session, self._tensors))
        # A remote session runs the operations in the threads of its server.
        is_remote = bool(session.sess_str)
        self._here = self._in_this_thread() if self._compiled and not is_remote else None
        self._current = self._here or self._pool
        self._is_fixed = is_remote or self._compiled

    def _choose(self) -> None:
        best = self._current.best
        if self._is_fixed or best is None or self._total < _SECS_BEFORE_TRIAL:
            return
        if self._chosen_at is not None:
            if max(best / self._chosen_at, self._chosen_at / best) > _CHANGE_FACTOR:
                self._chosen_at = None
                self._pool.secs, self._current = [], self._pool
                if self._here is not None:
                    self._here.secs = []
            return
        if self._current is self._pool and best < _SHORT_STEP_SECS:
            if self._total >= _STEPS_BEFORE_TRIAL * best:
                self._current = self._here = self._here or self._in_this_thread()
            return
        if self._here is not None and self._here.best is not None and self._pool.best is not None:
            self._current = min(self._here, self._pool, key=lambda executor: executor.best or 0.0)
        self._chosen_at = self._current.best

    def _in_this_thread(self) -> TimedCall:
        assert self._session is not None
        return TimedCall(
            sessions.prepare_session_call(self._session, [], self._tensors, in_this_thread=True)
        )
