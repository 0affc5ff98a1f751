"""Private TensorFlow and tf_keras are used in `engine/tf_internals`, or listed with a reason."""

import ast
import re
from pathlib import Path

import pytest

from tests import private_uses

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path
    for package in ("estimator_train", "tf_contrib", "input_fns", "flags")
    for path in (ROOT / package).rglob("*.py")
)
BOUNDARY = "estimator_train/engine/tf_internals/"
PRIVATE_MODULE = re.compile(
    r"(tensorflow\.(python|core|compiler)|tf_keras\.(src|python)|keras\.src)(\.[\w.]*)?"
)
NAME_READERS = {"delattr", "getattr", "hasattr", "setattr"}
# Methods of named tuples, and Python's own functions, are public despite their names.
PUBLIC = {"_asdict", "_exit", "_fields", "_getframe", "_make", "_replace"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_") and name not in PUBLIC


def read_dotted_name(node: ast.AST) -> str:
    """Returns `a.b.c` of attributes of a name and "" for others, faster than `ast.unparse`."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def defined_names(tree: ast.AST) -> set[str]:
    """Returns the names that a file defines itself: functions, classes, variables, attributes."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if read_dotted_name(node.value) in ("self", "cls"):
                names.add(node.attr)
        elif isinstance(node, ast.Call) and read_dotted_name(node.func) == "object.__setattr__":
            names.add(ast.unparse(node.args[1]).strip("'"))
    return names


def private_modules(node: ast.AST) -> set[str]:
    """Returns the private modules of libraries that a node imports, or names in a string."""
    names = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        names = [node.module or ""] if PRIVATE_MODULE.fullmatch(node.module or "") else names
    elif isinstance(node, ast.Attribute):
        names = [read_dotted_name(node)]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        names = [node.value.partition(":")[0]]
    return {name for name in names if PRIVATE_MODULE.fullmatch(name)}


def private_attributes(node: ast.AST, defined: set[str], own_names: frozenset[str]) -> set[str]:
    """Returns the private attribute that a node uses, or names in a string.

    Attributes that the file defines are left out.

    Args:
      node: A node of the file.
      defined: Names that the file defines.
      own_names: Names that any file of the package defines, which `self` may inherit.
    """
    if isinstance(node, ast.Attribute):
        if node.attr == "__internal__":
            return {f"{ast.unparse(node.value)}.__internal__"}
        if not is_private(node.attr):
            return set()
        own = own_names if ast.unparse(node.value) in ("self", "cls", "super()") else defined
        return {node.attr} - own
    if isinstance(node, ast.Call) and read_dotted_name(node.func) in NAME_READERS:
        named = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant)]
        return {name for name in named if is_private(name)} - defined
    return set()


def names_in_loops(nodes: list[ast.AST], own_names: frozenset[str]) -> set[str]:
    """Returns the private names in tuples of a file that gives variables to `getattr`."""
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    calls = [call for call in calls if read_dotted_name(call.func) in NAME_READERS]
    if all(isinstance(call.args[1], ast.Constant) for call in calls):
        return set()
    elements = [e for n in nodes if isinstance(n, (ast.Tuple, ast.List)) for e in n.elts]
    names = {str(e.value) for e in elements if isinstance(e, ast.Constant)}
    return {n for n in names if n.isidentifier() and is_private(n)} - own_names


def find_private_uses(text: str, own_names: frozenset[str] = frozenset()) -> set[str]:
    """Returns the private modules and attributes that a file uses."""
    tree = ast.parse(text)
    defined = defined_names(tree)
    nodes = list(ast.walk(tree))
    found = names_in_loops(nodes, own_names).union(*(private_modules(node) for node in nodes))
    return found.union(*(private_attributes(node, defined, own_names) for node in nodes))


def test_private_uses_outside_of_the_boundary_are_those_that_are_listed():
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in SOURCES}
    own = frozenset().union(*(defined_names(ast.parse(text)) for text in texts.values()))
    found = {
        path: uses
        for path, text in texts.items()
        if not path.startswith((BOUNDARY, *private_uses.STAND_INS))
        and (uses := find_private_uses(text, own))
    }
    listed: dict[str, set[str]] = {}
    for table in (private_uses.OF_LIBRARIES, private_uses.OF_THIS_PACKAGE):
        for path, reasons in table.items():
            listed.setdefault(path, set()).update(*(names.split() for names in reasons))
            assert all(reasons.values()), path
    assert found == listed


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("import tensorflow.python.framework.ops", "tensorflow.python.framework.ops"),
        ("from tensorflow.python import ops", "tensorflow.python"),
        ("from tensorflow import python", "tensorflow.python"),
        ("import tensorflow\ntensorflow.python.framework", "tensorflow.python.framework"),
        ("tf.__internal__.tf2.enabled()", "tf.__internal__"),
        ("hook._timer", "_timer"),
        ("hook._timer = None", "_timer"),
        ("def f(self): return self._timer", "_timer"),
        ('getattr(hook, "_timer", None)', "_timer"),
        ('for name in ("_timer", "timer"): getattr(hook, name)', "_timer"),
        ("from tf_keras.src import engine", "tf_keras.src"),
        ('import_module("tf_keras.src.engine")', "tf_keras.src.engine"),
        ('resolve_name("tensorflow.python.eager:context")', "tensorflow.python.eager"),
    ],
)
def test_every_spelling_of_a_private_use_is_detected(line, use):
    assert use in find_private_uses(line)


def test_no_import_is_relative():
    """Relative imports would escape the rules, which compare complete names of modules."""
    found = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
    }
    assert found == set()
