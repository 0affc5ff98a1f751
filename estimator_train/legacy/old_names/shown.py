"""The views behind the modules that every importer of the process sees."""

from types import ModuleType

from estimator_train.legacy import old_names
from estimator_train.legacy.old_names.view import Tree

_chosen: list[Tree] = []


def choose(tree: Tree) -> None:
    """Makes private modules those of the tree that the codebase of this process sees."""
    _chosen[:] = [tree]


def has(name: str) -> bool:
    """Returns whether a module exists.

    Args:
      name: The dotted name of the module.
    """
    tree = _find_tree(name)
    if tree.lists(name):
        return True
    try:
        return isinstance(tree.module(name), ModuleType)
    except ModuleNotFoundError:
        return False


def find_view(name: str) -> ModuleType:
    """Returns the view of a module.

    Args:
      name: The dotted name of the module.
    """
    return _find_tree(name).module(name)


def _find_tree(name: str) -> Tree:
    """Returns the tree of a module: that of TensorFlow 2 below the installed TensorFlow's names."""
    is_private = name.startswith(("tensorflow_estimator", "tensorflow.python"))
    return _chosen[0] if is_private and _chosen else old_names.tree(old_names.TF2)
