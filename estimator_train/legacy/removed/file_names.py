"""Old names of libraries that read files: h5py and PyYAML."""

import functools
import importlib
from typing import Any

from estimator_train.legacy.removed.add import add_missing


def accept_missing_loaders() -> None:
    """Makes `yaml.load` and `yaml.load_all` need no loader, as before PyYAML 6.

    This holds for the complete process: libraries call them too, also those that do not use
    TensorFlow.
    """
    try:  # Not `import`, which calls this function.
        yaml: Any = importlib.__import__("yaml")
    except ImportError:
        return  # The module that imports it gets the error.
    for name in ("load", "load_all"):
        original = getattr(yaml, name, None)  # None while yaml imports its own modules.
        if original is not None and not hasattr(original, "__wrapped__"):
            setattr(yaml, name, _add_default_loader(original, yaml.FullLoader))


def _add_default_loader(load: Any, default: Any) -> Any:
    @functools.wraps(load)
    def call(stream: Any, Loader: Any = None) -> Any:  # noqa: N803
        return load(stream, default if Loader is None else Loader)

    return call


def add_to_h5py() -> None:
    """Adds `value` to datasets, removed in h5py 3."""
    import h5py

    add_missing(h5py.Dataset, {"value": property(lambda self: self[()])})
