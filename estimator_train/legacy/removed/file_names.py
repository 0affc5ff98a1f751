"""Old names of libraries that read files: h5py and PyYAML."""

import importlib
from typing import Any

from estimator_train.legacy.removed.add import add_missing


def load_yaml(stream: Any, Loader: Any = None) -> Any:  # noqa: N803
    """Calls `yaml.load`; needs no loader, as before PyYAML 6."""
    yaml: Any = importlib.import_module("yaml")
    return yaml.load(stream, Loader or yaml.FullLoader)


def add_to_h5py() -> None:
    """Adds `value` to datasets, removed in h5py 3."""
    import h5py

    add_missing(h5py.Dataset, {"value": property(lambda self: self[()])})
