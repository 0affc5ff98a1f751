"""The trees of names that a codebase sees: one for TensorFlow 1, one for TensorFlow 2."""

import functools
from collections.abc import Callable
from typing import Any

from estimator_train.legacy.trees import estimator, keras, missing, moved, private, python
from estimator_train.legacy.trees.view import Tree, View

TF1 = "tf1"
TF2 = "tf2"
# The version that a script for TensorFlow 1 sees, so that it takes the branch written for it.
_VERSION = "1.15.5"
_CONTRIB = "tensorflow.contrib"

_TF1_MODULES = {
    "tensorflow": ("tensorflow:compat.v1", "tensorflow"),
    "tensorflow.keras": ("tensorflow:compat.v1.keras",),
    "tensorflow.examples.tutorials.mnist": ("estimator_train.legacy.tutorials",),
    _CONTRIB: ("estimator_train.legacy.contrib",),
    f"{_CONTRIB}.keras": ("tensorflow:compat.v1.keras",),
    f"{_CONTRIB}.eager.python.tfe": ("estimator_train.legacy.contrib.eager",),
}
_TEST_UTIL = "tensorflow.python.framework.test_util"
# Ways around to a module of the tree, which else would lead to TensorFlow's own.
_ALIASES = {
    "tensorflow_core": "tensorflow",
    "tensorflow._api.v1": "tensorflow",
    "tensorflow.compat.v1.compat": "tensorflow.compat",
    "tensorflow.compat.v2.compat": "tensorflow.compat",
}
_COMPAT = {
    "tensorflow.compat": ("tensorflow:compat",),
    "tensorflow.compat.v1": ("tensorflow:compat.v1",),
    "tensorflow.compat.v2": ("tensorflow:compat.v2",),
}
# Names from before TensorFlow 1.0, and those that replaced them.
_OLDEST = {
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
_SERVER = "estimator_train.legacy.servers:Server"
_TF1_NAMES: dict[str, str | Callable[[], Any]] = {
    **{f"tensorflow.{old}": f"tensorflow:compat.v1.{new}" for old, new in _OLDEST.items()},
    "tensorflow.train.Server": _SERVER,
    "tensorflow.__version__": lambda: _VERSION,
    "tensorflow.VERSION": lambda: _VERSION,
    "tensorflow.version.VERSION": lambda: _VERSION,
    **{
        f"{_CONTRIB}.{path}.run_{old}_in_graph_and_eager_modes": f"{_TEST_UTIL}:{new}"
        for path in ("eager", "eager.python.tfe")
        for old, new in (
            ("test", "run_in_graph_and_eager_modes"),
            ("all_tests", "run_all_in_graph_and_eager_modes"),
        )
    },
}
# TensorFlow's own raises where no TPU is found, also in scripts that then run without one.
_RESOLVERS = {
    f"{root}.distribute.cluster_resolver.TPUClusterResolver": (
        "estimator_train.legacy.contrib.cluster_resolver:TPUClusterResolver"
    )
    for root in ("tensorflow", "tensorflow.compat.v1")
}
_SERVERS = {
    "tensorflow.distribute.Server": _SERVER,
    "tensorflow.compat.v1.distribute.Server": _SERVER,
    "tensorflow.compat.v1.train.Server": _SERVER,
}


@functools.cache
def tree(generation: str) -> Tree:
    """The names that a codebase sees.

    Args:
      generation: TF1 or TF2.
    """
    first = generation == TF1
    return Tree(
        modules={
            **estimator.modules("v1" if first else "v2"),
            **_COMPAT,
            **keras.MODULES,
            **private.MODULES,
            **python.MODULES,
            **(_TF1_MODULES if first else {"tensorflow": ("tensorflow",)}),
        },
        names={
            **estimator.NAMES,
            **private.NAMES,
            **python.NAMES,
            **_RESOLVERS,
            **_SERVERS,
            **(_TF1_NAMES if first else {}),
        },
        aliases=_ALIASES,
        open_ended=("tensorflow.python", _CONTRIB),
        fallback=_fallback,
    )


@functools.cache
def python_tree() -> Tree:
    """The names that Python and NumPy had, for codebases of both generations."""
    return Tree(python.MODULES, python.NAMES, {}, (), _fallback)


def _fallback(view: View, name: str) -> Any:
    dotted = f"{view.__name__}.{name}"
    if dotted.startswith(f"{private.ROOT}."):
        try:
            return moved.value(view.__name__, name)
        except AttributeError:
            pass
    # tf.contrib.tpu.python.tpu.tpu_estimator, and the like, have the names of tf.contrib.tpu.
    _, _, inner = dotted.removeprefix(f"{_CONTRIB}.").partition(".")
    inside = inner == "python" or ".python" in view.__name__
    if dotted.startswith(_CONTRIB) and inside and name.islower():
        return view._tree.view(dotted, view._behind)
    raise missing.missing(dotted, dir(view))
