"""Ways in for code that knows the original's names.

`compat.v1` has the names of `tf.compat.v1.estimator`; `compat.install()` lets an old script see all
names of its time without an edit to the rest of it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from estimator_train.legacy.installing import install

__all__ = ["install"]


def __getattr__(name: str) -> Any:
    if name != "install":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from estimator_train.legacy.installing import install

    return install
