"""`tf.contrib` of TensorFlow 1.15.5 on current TensorFlow.

    import tf_contrib as contrib

    hidden = contrib.layers.fully_connected(inputs, 16)

Each module is imported when it is first used. They use public TensorFlow and `estimator_train`, and
contain no code of tf.contrib. `README.md` in this folder says what is there and what is not.
"""

import importlib
import pkgutil
from types import ModuleType

# Chooses tf.keras before a module imports TensorFlow.
import estimator_train as _estimator_train  # noqa: F401

__all__ = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name[0] != "_")  # noqa: PLE0605


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
