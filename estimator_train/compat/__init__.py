"""Ways in for code that knows the names of tf.estimator.

`compat.v1` has the names of `tf.compat.v1.estimator`; `compat.install()` lets an old script see all
names of its time without an edit to the rest of it.
"""

import pkgutil
from typing import Any

__all__ = ["install"]  # noqa: F822 (loaded when it is first used, from what stands above this)


def __getattr__(name: str) -> Any:
    if name != "install":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return pkgutil.resolve_name("estimator_train.legacy.installing:install")
