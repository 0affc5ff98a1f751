"""Postpones and pauses the collection of garbage among TensorFlow's modules."""

import contextlib
import gc
from collections.abc import Iterator

# Python 3.12 starts with a few hundred frozen objects.
_MAX_FROZEN_BY_PYTHON = 1_000


def postpone_full_collection() -> None:
    """Restarts the count that leads to the next full garbage collection.

    The import of TensorFlow leaves about 450,000 objects. Soon afterwards Python searches all of
    them for garbage, mostly before the first training step: 0.2 to 0.3 seconds that free nothing.
    This function moves all objects to the oldest generation, where they stay collectable. It does
    nothing if the program has frozen its objects, which `gc.unfreeze` would undo.
    """
    if gc.get_freeze_count() < _MAX_FROZEN_BY_PYTHON:
        gc.freeze()
        gc.unfreeze()


@contextlib.contextmanager
def pause_collection() -> Iterator[None]:
    """Collects no garbage until the context ends.

    While TensorFlow is imported Python would search all objects several times: 0.4 to 0.5 seconds
    that free nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        postpone_full_collection()
        if was_enabled:
            gc.enable()
