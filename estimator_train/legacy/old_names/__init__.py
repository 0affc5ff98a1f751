"""The module trees that a codebase sees: one for TensorFlow 1, one for TensorFlow 2."""

import functools
import logging
from collections.abc import Callable
from typing import Any

from estimator_train.legacy import removed
from estimator_train.legacy.old_names import (
    contrib,
    estimator,
    keras,
    missing,
    moved,
    private,
)
from estimator_train.legacy.old_names.view import Tree, View

TF1 = "tf1"
TF2 = "tf2"
# A script for TensorFlow 1 sees this version, and executes its branch for TensorFlow 1.
_VERSION, _KERAS_VERSION = "1.15.5", "2.2.4-tf"
_CONTRIB = contrib.ROOT

_TF1_MODULES = {
    "tensorflow": ("tensorflow:compat.v1", "tensorflow"),
    "tensorflow.keras": ("tensorflow:compat.v1.keras",),
    keras.PACKAGE: ("tensorflow:compat.v1.keras", "tf_keras.src"),
    "tensorflow.examples.tutorials.mnist": ("estimator_train.legacy.tutorials",),
    "tensorflow.examples.tutorials.mnist.input_data": ("tf_contrib.learn.mnist_data",),
    _CONTRIB: ("tf_contrib",),
    f"{_CONTRIB}.framework.nest": (
        "tf_contrib.framework.nest",
        "tensorflow.python.util.nest",
    ),
    **contrib.MODULES,
    f"{_CONTRIB}.keras": ("tensorflow:compat.v1.keras",),
    f"{_CONTRIB}.eager.python.tfe": ("tf_contrib.eager",),
}
_TEST_UTIL = "tensorflow.python.framework.test_util"
# Other paths to modules of the tree. Without them a script would reach the installed modules.
_ALIASES = {
    "tensorflow_core": "tensorflow",
    "tensorflow_estimator.contrib": "tensorflow.contrib",
    "tensorflow._api.v1": "tensorflow",
    "tensorflow.pywrap_tensorflow": "tensorflow.python.pywrap_tensorflow",
    "tensorflow.compat.v1.compat": "tensorflow.compat",
    "tensorflow.compat.v2.compat": "tensorflow.compat",
}
_COMPAT = {
    "tensorflow.compat": ("tensorflow:compat",),
    "tensorflow.compat.v1": ("tensorflow:compat.v1",),
    "tensorflow.compat.v2": ("tensorflow:compat.v2",),
}
# Maps names from before TensorFlow 1.0 to the names that replaced them.
_PRE_1_0_NAMES = {
    "merge_all_summaries": "summary.merge_all",
    "merge_summary": "summary.merge",
    "scalar_summary": "summary.scalar",
    "histogram_summary": "summary.histogram",
    "image_summary": "summary.image",
    "train.SummaryWriter": "summary.FileWriter",
    "pack": "stack",
    "unpack": "unstack",
    "mul": "multiply",
    "sub": "subtract",
    "neg": "negative",
    "batch_matmul": "matmul",
    "select": "where",
    "all_variables": "global_variables",
    "initialize_all_variables": "global_variables_initializer",
    "initialize_local_variables": "local_variables_initializer",
    "Optimizer": "train.Optimizer",
    "Saver": "train.Saver",
    "Supervisor": "train.Supervisor",
    "ReplicaDeviceSetter": "train.replica_device_setter",
    "latest_checkpoint": "train.latest_checkpoint",
}
_DATASETS = "Dataset FixedLengthRecordDataset Iterator TextLineDataset TFRecordDataset"
_SERVER = "estimator_train.legacy.servers:Server"
_TF1_NAMES: dict[str, str | Callable[[], Any]] = {
    **{f"tensorflow.{old}": f"tensorflow:compat.v1.{new}" for old, new in _PRE_1_0_NAMES.items()},
    **contrib.NAMES,
    **{
        f"{private.ROOT}.data.{name}": f"tensorflow:compat.v1.data.{name}"
        for name in _DATASETS.split()
    },
    "tensorflow.train.Server": _SERVER,
    "tensorflow.config.experimental_list_devices": (
        "estimator_train.legacy.tensorflow_methods:list_devices"
    ),
    "tensorflow.__version__": lambda: _VERSION,
    "tensorflow.VERSION": lambda: _VERSION,
    **dict.fromkeys(keras.VERSIONS, lambda: _KERAS_VERSION),
    "tensorflow.version.VERSION": lambda: _VERSION,
    # Until TensorFlow 1.12 the module had its logger as an attribute.
    "tensorflow.logging._logger": lambda: logging.getLogger("tensorflow"),
    **{
        f"{_CONTRIB}.{path}.run_{old}_in_graph_and_eager_modes": f"{_TEST_UTIL}:{new}"
        for path in ("eager", "eager.python.tfe")
        for old, new in (
            ("test", "run_in_graph_and_eager_modes"),
            ("all_tests", "run_all_in_graph_and_eager_modes"),
        )
    },
}
# The installed resolver raises without a TPU; this one lets scripts continue on the CPU.
_RESOLVERS = {
    f"{root}.distribute.cluster_resolver.TPUClusterResolver": (
        "tf_contrib.cluster_resolver:TPUClusterResolver"
    )
    for root in ("tensorflow", "tensorflow.compat.v1")
}
_SERVERS = {
    "tensorflow.distribute.Server": _SERVER,
    "tensorflow.compat.v1.distribute.Server": _SERVER,
    "tensorflow.compat.v1.train.Server": _SERVER,
}
_INPUT_HOOK = {
    f"{root}.data.experimental.CheckpointInputPipelineHook": (
        "tf_contrib.data:CheckpointInputPipelineHook"
    )
    for root in ("tensorflow", "tensorflow.compat.v1")
}
# Programs may import any name from these packages; a missing name raises an error at its first use.
_OPEN_ENDED = ("tensorflow.python", _CONTRIB, keras.PACKAGE)
_POSTPONED = tuple(f"{root}." for root in (*_OPEN_ENDED, *estimator.PRIVATE_ROOTS))


@functools.cache
def tree(generation: str) -> Tree:
    """Returns the module tree of a generation.

    Args:
      generation: TF1 or TF2.
    """
    is_tf1 = generation == TF1
    return Tree(
        generation,
        modules={
            **estimator.modules("v1" if is_tf1 else "v2"),
            **_COMPAT,
            **keras.MODULES,
            **private.MODULES,
            **removed.MODULES,
            **(_TF1_MODULES if is_tf1 else {"tensorflow": ("tensorflow",)}),
        },
        names={
            **estimator.NAMES,
            **keras.NAMES,
            **private.NAMES,
            **removed.NAMES,
            **_RESOLVERS,
            **_SERVERS,
            **_INPUT_HOOK,
            **(_TF1_NAMES if is_tf1 else {}),
        },
        prepare=removed.PREPARE,
        aliases=_ALIASES,
        open_ended=_OPEN_ENDED,
        find_unlisted=_find_unlisted,
    )


@functools.cache
def python_tree() -> Tree:
    """Returns the tree of old names of Python and its libraries, which both generations share."""
    return Tree(None, removed.MODULES, removed.NAMES, removed.PREPARE, {}, (), _find_unlisted)


def is_postponed(module: str) -> bool:
    """Returns whether a missing name that is imported from a module fails only at its first use."""
    return f"{module}.".startswith(_POSTPONED)


def _find_unlisted(view: View, name: str) -> Any:
    """Finds a name that no table and no backing module has, or raises MissingSymbol."""
    dotted = f"{view.__name__}.{name}"
    is_keras = dotted.startswith(f"{keras.PACKAGE}.")
    if is_keras or dotted.startswith(f"{private.ROOT}."):
        module = f"{private.ROOT}.{view.__name__}" if is_keras else view.__name__
        try:
            return moved.find_object(module, name)
        except AttributeError:
            pass
    if dotted == "tensorflow.models" and (clone := moved.find_models_clone()):
        return clone
    if dotted in contrib.EMPTY_MODULES:
        return view._tree.view(dotted, ())
    # Modules such as tf.contrib.tpu.python.tpu.tpu_estimator have the names of tf.contrib.tpu.
    _, _, inner = dotted.removeprefix(f"{_CONTRIB}.").partition(".")
    is_inner_module = inner == "python" or ".python" in view.__name__
    if dotted.startswith(_CONTRIB) and is_inner_module and name.islower():
        return view._tree.view(dotted, view._backing)
    raise missing.make_error(dotted, dir(view))
