"""Prepares TensorFlow for an old codebase when the codebase first imports TensorFlow."""

import builtins
import collections.abc
import contextlib
import copyreg
import importlib
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from absl import flags

from estimator_train.bootstrap import import_hook
from estimator_train.bootstrap.start_up import (
    drop_second_lines,
    hide_loading_lines,
    pause_collection,
)
from estimator_train.legacy import (
    codebase,
    generation,
    old_names,
    protos,
    removed,
    seeds,
    tensorflow_methods,
)
from estimator_train.legacy.imports import ImportRedirector
from estimator_train.legacy.old_names import keras_lookups, keras_packages, keras_shapes, shown
from estimator_train.legacy.old_names.view import Tree, View, get_generation
from estimator_train.legacy.reading import slice_lists

_DEPRECATED = "is deprecated and will be removed in a future version"
_HOME = str(Path(__file__).parents[2])
_LEGACY_KERAS = "TF_USE_LEGACY_KERAS"
# Only Keras 3 has several backends that this variable chooses from.
_KERAS_BACKEND = "KERAS_BACKEND"


def install(
    directory: str,
    choice: str | None = None,
    source: str | None = None,
    seed: int | None = None,
) -> None:
    """Redirects the imports of the codebase to the names that it was written for.

    Call it once in a process.

    Args:
      directory: The folder of the codebase's top-level modules.
      choice: TF1 or TF2; None: detect it from `source`.
      source: A file of the codebase; by default the module that first imports TensorFlow.
      seed: Seed of each graph for which the codebase sets none; None: do not seed.

    Raises:
      RuntimeError: TensorFlow is already imported with Keras 3 as `tf.keras`.
    """
    if "tensorflow" in sys.modules and os.environ.get(_LEGACY_KERAS) not in ("1", "true", "True"):
        raise RuntimeError(
            "TensorFlow is already imported with Keras 3 as tf.keras, and old programs need "
            f"Keras 2. Do this before the first `import tensorflow`, or set {_LEGACY_KERAS}=1."
        )
    os.environ[_LEGACY_KERAS] = "1"
    # Libraries of the time import them from here, also those that never use TensorFlow.
    for name in collections.abc.__all__:
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    removed.add_to_running_modules()
    _import_contrib()

    def prepare(importer: Mapping[str, Any]) -> Tree:
        return _prepare(choice, source or importer.get("__file__"), seed)

    def uses_keras_3(importer: Mapping[str, Any]) -> bool:
        script = source or importer.get("__file__")
        return _KERAS_BACKEND in os.environ or bool(script and generation.uses_keras_3(script))

    import_hook.install().show_attributes()
    ImportRedirector(prepare, uses_keras_3, directory).install()
    protos.install()
    slice_lists.install(codebase.is_codebase_file)
    keras_packages.install()
    copyreg.pickle(View, _reduce_view)


def _import_contrib() -> None:
    """Imports `tf_contrib` from beside this package: the codebase may have its own."""
    if "tf_contrib" not in sys.modules:
        sys.path.insert(0, _HOME)
        importlib.import_module("tf_contrib")
        sys.path.remove(_HOME)


def _reduce_view(view: View) -> tuple[Callable[..., Any], tuple[str, str | None]]:
    """Returns how to restore a view, which cloudpickle pickles with a function that uses it."""
    return restore_view, (view.__name__, get_generation(view))


def restore_view(name: str, generation: str | None) -> ModuleType:
    """Returns the view of a module; a worker process of Beam or Spark is prepared for it.

    Args:
      name: The dotted name of the module.
      generation: TF1 or TF2; None: a module of Python or of one of its libraries.
    """
    if generation is None:
        return old_names.python_tree().module(name)
    redirector = getattr(builtins.__import__, "__self__", None)
    if not isinstance(redirector, ImportRedirector):
        install(os.getcwd(), generation)
        return restore_view(name, generation)
    return redirector.load(name, {})


def _prepare(choice: str | None, source: str | None, seed: int | None) -> Tree:
    wants_all = os.environ.get("TF_CPP_MIN_LOG_LEVEL") == "0"
    hidden = contextlib.nullcontext() if wants_all else hide_loading_lines()
    with pause_collection(), hidden:
        tensorflow = importlib.import_module("tensorflow")
    drop_second_lines()
    if choice is None and source:
        choice = generation.detect_for_script(source, tensorflow)
    chosen = choice or old_names.TF2
    generation.clear_caches()
    if chosen == old_names.TF1:
        _enable_tf1_behavior(tensorflow)
    if seed is not None:
        seeds.seed_tensorflow(tensorflow, seed)
    _allow_flag_redefinition()
    _accept_texts_of_enum_flags()
    # Old code calls many functions that are deprecated today: no warning at each call.
    logging.getLogger("tensorflow").addFilter(lambda record: _DEPRECATED not in record.getMessage())
    warnings.filterwarnings("ignore", message=f".*{_DEPRECATED}")
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        if not numpy.__version__.startswith("1."):
            # NumPy 1 prints a scalar as 1.0, NumPy 2 as np.float32(1.0).
            numpy.set_printoptions(legacy="1.25")
        # Imported here so that a program starts faster.
        from estimator_train.legacy.removed import numpy_methods
        from estimator_train.legacy.removed.messages import values

        numpy_methods.add_removed_methods()
        counts = tensorflow.compat.v1.ConfigProto().device_count
        values.accept_bools(tensorflow.train.Int64List, type(counts))
    tensorflow_methods.add_methods(tensorflow)
    keras_lookups.reject_unknown_names()
    tree = old_names.tree(chosen)
    shown.choose(tree)
    import_hook.load_tracked_modules()
    return tree


def _allow_flag_redefinition() -> None:
    """Lets the codebase define flags that absl's logging defines too, such as `log_dir`."""
    logging_flags = flags.FLAGS.flags_by_module_dict().get("absl.logging", ())
    for flag in logging_flags:
        flag.allow_override = True


def _accept_texts_of_enum_flags() -> None:
    """Lets the codebase give the values of an enum flag as one text, which old absl accepted."""
    original = flags.EnumParser.__init__

    def init(self: Any, enum_values: Any, case_sensitive: bool = True) -> None:
        values = re.findall(r"[\w-]+", enum_values) if isinstance(enum_values, str) else enum_values
        original(self, values, case_sensitive)

    flags.EnumParser.__init__ = init


def _enable_tf1_behavior(tensorflow: ModuleType) -> None:
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)  # `disable_v2_behavior` logs a deprecation warning.
    try:
        tensorflow.compat.v1.disable_v2_behavior()
    finally:
        logger.setLevel(level)
    keras_shapes.accept_other_shapes()
    tensorflow_methods.add_methods_of_tf1(tensorflow)
