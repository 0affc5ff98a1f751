"""Import hook that shows `tensorflow_estimator` and `tf.estimator` to every module of the process.

`estimator-train install-shim` copies this file into an environment, where each start of Python
executes it. So it imports nothing of its package, and nothing that takes time, before a program
uses tf.estimator.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType

TYPE_CHECKING = False  # Importing `typing` would delay every start of Python.
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from importlib.metadata import Distribution, DistributionFinder
    from typing import Any

_ROOT = "tensorflow_estimator"
_IN_TENSORFLOW = (
    "tensorflow.estimator",
    "tensorflow.compat.v1.estimator",
    "tensorflow.compat.v2.estimator",
    "tensorflow.python.estimator",
    "tensorflow.python.distribute.estimator_training",
)
_SHOWN = tuple(f"{name}." for name in (_ROOT, *_IN_TENSORFLOW))
# Modules whose classes import hooks of trackers change when they are imported.
_TRACKED = tuple(
    f"{_ROOT}.python.estimator.{name}"
    for name in (
        "estimator",
        "training",
        "canned.baseline",
        "canned.dnn",
        "canned.dnn_linear_combined",
        "canned.linear",
    )
)
# These and their packages exist whatever else does: finding them imports nothing.
_ALWAYS = {name.rsplit(".", depth)[0] for name in _TRACKED for depth in range(name.count(".") + 1)}
# `__path__` of the modules: Comet looks for modules by the path of their package alone.
_PATH = "<modules of estimator_train>"
_COMPAT = ("", ".compat.v1", ".compat.v2")
# Maps each module that has an attribute `estimator` to the name of that attribute's module.
_PARENTS = {
    f"{root}{outer}{inner}": f"tensorflow{inner or outer}.estimator"
    for root in ("tensorflow", "tensorflow._api.v2")
    for outer in _COMPAT
    for inner in _COMPAT
}
_TENSORFLOWS = ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tf-nightly")
_FIRST_WITHOUT_ESTIMATOR = (2, 16)
_VERSION = "2.15.0"  # The version of tensorflow-estimator whose API the modules have.
_KERAS = "TF_USE_LEGACY_KERAS"
_USES = r"tensorflow_estimator|\b(tf[12]?|tensorflow|keras|v[12])\.estimator\b|import estimator\b"
_MISSING = (
    "{} needs the package estimator-train, which is not installed. Install it, or remove its shim: "
    "pip uninstall estimator-train-shim"
)


class LazyModule(ModuleType):
    """Module that asks `estimator_train.shim.modules` for its names."""

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute; the first one imports estimator_train."""
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        try:
            modules = _import_modules(self.__name__)
        except ModuleNotFoundError as error:
            raise AttributeError(str(error)) from None
        return modules.find_attribute(self.__name__, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets a name for all importers; Python itself sets modules and names with underscores."""
        if name.startswith("__") or isinstance(value, ModuleType):
            super().__setattr__(name, value)
        else:
            setattr(_import_modules(self.__name__).find_view(self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        """Deletes a name that was set."""
        if name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(_import_modules(self.__name__).find_view(self.__name__), name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns how to restore the module, by its name."""
        return restore_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        """Returns the names."""
        names = dir(_import_modules(self.__name__).find_view(self.__name__))
        return sorted({*self.__dict__, *names})


class ImportHook:
    """Finder and loader of the modules, and finder of the metadata of tensorflow-estimator.

    It has no base class: importing `importlib.abc` takes longer than its own work.

    Attributes:
      shows_attributes: Whether TensorFlow's modules have the attribute `estimator`.
    """

    def __init__(self) -> None:
        self.shows_attributes = False
        self._modules: dict[str, ModuleType] = {}
        self._is_needed: bool | None = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of a module of tf.estimator, or of a parent of `tf.estimator`."""
        if not fullname.startswith("tensorflow"):
            return None
        if fullname in _PARENTS:
            return self._find_parent(fullname, path, target) if self.shows_attributes else None
        if not f"{fullname}.".startswith(_SHOWN if self.shows_attributes else f"{_ROOT}."):
            return None
        if not self._must_show():
            return None
        if fullname not in _ALWAYS and not _import_modules(fullname).has(fullname):
            return None
        from importlib.machinery import ModuleSpec

        spec = ModuleSpec(fullname, self, origin="estimator_train", is_package=True)  # type: ignore[arg-type]
        spec.submodule_search_locations = [_PATH]
        return spec

    def find_in_path(self, entry: str) -> ImportHook:
        """Returns this finder for the `__path__` of the modules.

        Raises:
          ImportError: `entry` is another path.
        """
        if entry != _PATH:
            raise ImportError(entry)
        return self

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Returns the module of a spec, the same object for each import."""
        return self.module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Makes the module find its names when they are used.

        Args:
          module: The module, of Python's own class if a tracker's loader made it.
        """
        module.__class__ = LazyModule
        self._modules[module.__name__] = module

    def module(self, name: str) -> ModuleType:
        """Returns the module of a name, the same object at each call."""
        return self._modules.setdefault(name, LazyModule(name))

    def find_distributions(
        self, context: DistributionFinder.Context | None = None
    ) -> Iterator[Distribution]:
        """Yields the metadata of tensorflow-estimator, unless a caller asks for given folders."""
        name = getattr(context, "name", None) or ""
        is_asked = name.lower().replace("_", "-") == "tensorflow-estimator"
        if not is_asked or "path" in vars(context) or not self._must_show():
            return
        from importlib.util import find_spec

        if find_spec("estimator_train") is not None:
            yield _make_distribution()

    def _must_show(self) -> bool:
        if self._is_needed is None:
            self._is_needed = not _has_own_estimator()
        return self._is_needed

    def show_attributes(self) -> None:
        """Adds `estimator` to TensorFlow's modules, loaded or not."""
        self.shows_attributes = True
        for name in _PARENTS:
            if name in sys.modules:
                self.add_attribute(name)

    def add_attribute(self, name: str) -> None:
        """Adds `estimator` to a loaded module of TensorFlow that lacks it."""
        parent = sys.modules[name]
        if "estimator" not in dir(parent):
            parent.estimator = self.module(_PARENTS[name])  # type: ignore[attr-defined]

    def _find_parent(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """Returns the spec of other finders, with a loader that adds the attribute."""
        if name == "tensorflow":
            _choose_keras()
        for finder in sys.meta_path:
            find = None if isinstance(finder, ImportHook) else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _ParentLoader(spec.loader, self)  # type: ignore[assignment, arg-type]
                return spec
        return None


class _ParentLoader:
    """Loader of a module of TensorFlow, which adds the attribute `estimator` afterwards."""

    def __init__(self, loader: Loader, hook: ImportHook) -> None:
        self._loader = loader
        self._hook = hook

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._hook.add_attribute(module.__name__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def install() -> ImportHook:
    """Returns the hook of this process, and inserts it before all finders if there is none.

    An installed tensorflow-estimator 2.15, which current TensorFlow breaks, comes after it.
    """
    for finder in sys.meta_path:
        if type(finder).__name__ == ImportHook.__name__:  # The shim has a class of its own.
            return finder  # type: ignore[return-value]
    hook = ImportHook()
    sys.path_hooks.append(hook.find_in_path)  # type: ignore[arg-type]
    sys.meta_path.insert(0, hook)
    return hook


def restore_module(name: str) -> ModuleType:
    """Returns a pickled module; the process may not have the hook yet.

    Args:
      name: The dotted name of the module.
    """
    from importlib import import_module

    hook = install()
    if not name.startswith(_ROOT):
        hook.show_attributes()
    return import_module(name)


def load_tracked_modules() -> None:
    """Imports the modules that trackers change, as TensorFlow did until 2.15."""
    from importlib import import_module

    for name in _TRACKED:
        if name not in sys.modules:
            import_module(name)


def _import_modules(feature: str) -> Any:
    """Returns `estimator_train.shim.modules`.

    Raises:
      ModuleNotFoundError: estimator_train is not installed; the message names `feature`.
    """
    from importlib import import_module

    try:
        return import_module("estimator_train.shim.modules")
    except ModuleNotFoundError as error:
        if error.name != "estimator_train":
            raise
        raise ModuleNotFoundError(_MISSING.format(feature), name=error.name) from None


def _has_own_estimator() -> bool:
    """Returns whether the installed TensorFlow is older than 2.16 and has tf.estimator itself."""
    from importlib import metadata

    for name in _TENSORFLOWS:
        try:
            release = metadata.version(name).split(".")[:2]
        except metadata.PackageNotFoundError:
            continue
        return tuple(int(number) for number in release) < _FIRST_WITHOUT_ESTIMATOR
    return False


def _make_distribution() -> Distribution:
    from importlib import metadata

    class ShownDistribution(metadata.Distribution):
        def read_text(self, filename: str) -> str | None:
            text = f"Metadata-Version: 2.1\nName: tensorflow-estimator\nVersion: {_VERSION}\n"
            return text if filename == "METADATA" else None

        def locate_file(self, path: Any) -> Any:
            return path

    return ShownDistribution()


def _choose_keras() -> None:
    """Makes `tf.keras` Keras 2 if the program's source uses tf.estimator, unless it is chosen."""
    if _KERAS in os.environ:
        return
    files = {getattr(sys.modules.get("__main__"), "__file__", None), _find_importer()}
    for file in files - {None}:
        try:
            with open(str(file), encoding="utf-8", errors="replace") as stream:
                text = stream.read()
        except OSError:
            continue
        if "estimator" not in text:
            continue
        import re

        if re.search(_USES, text):
            os.environ[_KERAS] = "1"


def _find_importer() -> str | None:
    """Returns the file whose import statement runs, unless it belongs to an installed library."""
    frame: Any = sys._getframe(1)
    while frame and (
        frame.f_code.co_filename.startswith("<frozen") or frame.f_globals is globals()
    ):
        frame = frame.f_back
    file = frame.f_code.co_filename if frame else None
    return None if not file or "site-packages" in file or "dist-packages" in file else file
