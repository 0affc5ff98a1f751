"""Session calls that are prepared once: of the same tensors, again and again."""

from typing import Any

import tensorflow as tf

_MOST = 32


class PreparedCalls:
    """Runs tensors in a session, each set of them prepared when first seen.

    `Session.run` looks through what it is asked for at every call, which takes about as long as a
    small model's training step.
    """

    def __init__(self) -> None:
        self._session: tf.compat.v1.Session | None = None
        self._calls: dict[Any, tuple[Any, Any]] = {}

    def run(self, session: tf.compat.v1.Session, fetches: Any) -> Any:
        """What `session.run(fetches)` gives.

        Args:
          session: A raw session.
          fetches: A structure of lists, tuples, dictionaries, tensors, operations and names.
        """
        if session is not self._session:
            self._session, self._calls = session, {}
        key = _key(fetches)
        if key not in self._calls:
            # Nothing at all can be run, but not prepared.
            if len(self._calls) >= _MOST or not _holds_any(fetches):
                return session.run(fetches)
            # The fetches are kept with the call: as long as they live no other has their id.
            self._calls[key] = (session.make_callable(fetches), fetches)
        return self._calls[key][0]()


def _holds_any(fetches: Any) -> bool:
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    return any(map(_holds_any, fetches)) if isinstance(fetches, (list, tuple)) else True


def _key(fetches: Any) -> Any:
    if isinstance(fetches, (list, tuple)):
        return (type(fetches), *map(_key, fetches))
    if isinstance(fetches, dict):
        return (type(fetches), *((name, _key(value)) for name, value in fetches.items()))
    return fetches if isinstance(fetches, str) else id(fetches)
