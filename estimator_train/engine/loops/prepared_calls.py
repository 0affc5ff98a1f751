"""Session calls of the same fetches, prepared once."""

from typing import Any

import tensorflow as tf

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
            if len(self._calls) >= _MAX_PREPARED or not _has_fetch(fetches):
                return session.run(fetches)
            # The cache holds the fetches, so that their id stays unique.
            self._calls[key] = (session.make_callable(fetches), fetches)
        return self._calls[key][0]()


def _has_fetch(fetches: Any) -> bool:
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    return any(map(_has_fetch, fetches)) if isinstance(fetches, (list, tuple)) else True


def _make_key(fetches: Any) -> Any:
    if isinstance(fetches, (list, tuple)):
        return (type(fetches), *map(_make_key, fetches))
    if isinstance(fetches, dict):
        return (type(fetches), *((name, _make_key(value)) for name, value in fetches.items()))
    return fetches if isinstance(fetches, str) else id(fetches)
