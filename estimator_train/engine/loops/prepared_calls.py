"""Session calls of the same fetches, prepared once."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.tf_internals import graphs, sessions

_MAX_PREPARED = 32


class PreparedCalls:
    """Cache of prepared session calls by their fetches.

    `Session.run` analyses its fetches at every call, which takes about as long as a training step
    of a small model.
    """

    def __init__(self) -> None:
        self._session: tf.compat.v1.Session | None = None
        self._calls: dict[Any, tuple[Any, Any]] = {}

    def run(self, session: tf.compat.v1.Session, fetches: Any) -> Any:
        """Returns the values of `session.run(fetches)`.

        Args:
          session: A raw session.
          fetches: A structure of lists, tuples, dictionaries, tensors, operations and names.
        """
        if session is not self._session:
            self._session, self._calls = session, {}
        key = _make_key(fetches)
        if key not in self._calls:
            # `make_callable` does not accept empty fetches.
            if len(self._calls) >= _MAX_PREPARED or not _list_fetches(fetches):
                return session.run(fetches)
            # The cache holds the fetches, so that their id stays unique.
            self._calls[key] = (sessions.prepare_run(session, fetches), fetches)
        return self._calls[key][0]()


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
