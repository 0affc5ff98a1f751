"""An edited copy of one file, in which old names are replaced by where their objects are today."""

import ast
import importlib.util
import re
from typing import NamedTuple

from absl import flags

from estimator_train.legacy import trees
from estimator_train.legacy.imports import ROOTS
from estimator_train.legacy.reading import symbols
from estimator_train.legacy.rewriting.edits import Source
from estimator_train.legacy.rewriting.homes import Home, Homes

_ALIASES = {
    "estimator_train": "estimator_train",
    "estimator_train.compat.v1": "tf_estimator",
    "tensorflow": "tf_v2",
    "tensorflow.compat.v1": "tf_v1",
}
_CONTRIB = "estimator_train.legacy.contrib."
_KERAS = """import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Read when TensorFlow is imported: tf.keras is tf-keras.
"""
_GRAPHS = """import tensorflow.compat.v1

tensorflow.compat.v1.disable_v2_behavior()
"""


class Left(NamedTuple):
    """A name that the edits left as it was, so that it has to be changed by hand.

    Attributes:
      line: Its line in the file as it was.
      name: As scripts spell it.
      reason: The message about it.
    """

    line: int
    name: str
    reason: str


class Rewritten(NamedTuple):
    """An edited file, and what has to be changed in it by hand.

    Attributes:
      source: The edited copy.
      left: The names that have to be changed by hand.
    """

    source: bytes
    left: list[Left]


def rewritten(source: bytes, generation: str) -> Rewritten:
    """Edits a file so that it runs under Python itself.

    Args:
      source: The file.
      generation: TF1 or TF2: what it was written for.

    Raises:
      SyntaxError: It is not Python 3.
    """
    return _File(source, generation).rewritten()


class _File:
    def __init__(self, source: bytes, generation: str) -> None:
        self._source = Source(source)
        self._tree = self._source.tree
        self._generation = generation
        self._homes = Homes(generation)
        self._taken = {name for node in ast.walk(self._tree) for name in _names(node)}
        self._added: dict[str, str] = {}  # Module to the name that it is imported by.
        self._left: list[Left] = []

    def rewritten(self) -> Rewritten:
        for node in ast.walk(self._tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._edit_import(node)
            elif isinstance(node, ast.Call):
                self._free_flag_name(node)
        for reference in symbols.references(self._tree, ROOTS):
            self._edit_reference(reference)
        self._add_header()
        return Rewritten(self._source.edited(), sorted(self._left))

    def _edit_reference(self, reference: symbols.Reference) -> None:
        """Names an object by its home, where it is not to be had from its first name."""
        try:
            known = self._homes.steps(reference.symbol)
            dotted = ".".join(reference.symbol.split(".")[:known])
            parts = reference.parts[: known - 1 - reference.base.count(".")]
            if not parts:
                return  # The import alone has it; the rest belongs to the object.
            text = self._homes.literal(dotted)
            if text is None:
                if self._homes.is_at(dotted, self._binding(reference.base), parts):
                    return
                text = self._spelt(self._homes.home(dotted))
        except (AttributeError, ImportError) as error:
            self._leave(reference.node.lineno, reference.symbol, error)
            return
        node: ast.expr = reference.node
        for _ in range(len(reference.parts) - len(parts)):
            assert isinstance(node, ast.Attribute)
            node = node.value
        written = re.sub(r"\s|#.*|\\", "", self._source.text(node)) if node.end_lineno else ""
        if not written.endswith(".".join(parts)) or not isinstance(reference.node.ctx, ast.Load):
            # Within a format string Python does not tell the place.
            reason = AttributeError(f"is now {text}, which cannot be written here automatically.")
            self._leave(reference.node.lineno, reference.symbol, reason)
            return
        self._source.replace(node, text)

    def _binding(self, dotted: str) -> Home:
        """What the edited import of a name binds."""
        if "." not in dotted:
            return Home(self._homes.tensorflow if dotted == "tensorflow" else dotted, "")
        return self._homes.home(dotted)

    def _spelt(self, home: Home) -> str:
        """The text by which a home is named, its module imported."""
        if home.module == "builtins":
            return home.path
        name = self._import(home.module)
        return f"{name}.{home.path}" if home.path else name

    def _import(self, module: str) -> str:
        if module == self._homes.tensorflow and "tf" in self._bound_to_tensorflow():
            return "tf"
        if module not in self._added:
            name = _ALIASES.get(module, module.replace(".", "_"))
            if module.startswith(_CONTRIB):
                name = f"contrib_{module.removeprefix(_CONTRIB).replace('.', '_')}"
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            self._added[module] = name
        return self._added[module]

    def _bound_to_tensorflow(self) -> set[str]:
        return {
            alias.asname or alias.name
            for node in self._tree.body
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name == "tensorflow"
        }

    def _edit_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Imports the same names from where they are."""
        if isinstance(node, ast.ImportFrom) and node.level:
            return
        lines = [self._imported(node, alias) for alias in node.names]
        before = [self._as_written(node, alias) for alias in node.names]
        if lines == before:
            return
        indent = self._source.indent(node)
        joint = "; " if indent is None else f"\n{indent}"
        self._source.replace(node, joint.join(dict.fromkeys(lines)))

    def _imported(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        """The statement that imports one name."""
        as_written = self._as_written(node, alias)
        dotted = alias.name
        if isinstance(node, ast.ImportFrom):
            dotted = f"{node.module}.{alias.name}" if alias.name != "*" else str(node.module)
        if dotted.split(".")[0] not in ROOTS:
            return as_written
        try:
            if isinstance(node, ast.Import) and not alias.asname:
                root = dotted.split(".")[0]
                module = self._binding(root).module
                return as_written if module == root else f"import {module} as {root}"
            home = self._binding(dotted)
        except (AttributeError, ImportError) as error:
            self._leave(node.lineno, dotted, error)
            return as_written
        if alias.name == "*":
            return f"from {home.module}{'.' if home.path else ''}{home.path} import *"
        bound = alias.asname or alias.name
        if not _has_importable_parent(home):
            return f"{bound} = {self._spelt(home)}"
        return _import_statement(home, bound)

    def _as_written(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
        return f"{start}import {name}"

    def _free_flag_name(self, node: ast.Call) -> None:
        """Lets the file define a flag that absl's logging has defined, as `log_dir`."""
        function = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        first = node.args[0] if node.args else None
        if not function.startswith("DEFINE_") or not isinstance(first, ast.Constant):
            return
        of_absl = flags.FLAGS.flags_by_module_dict().get("absl.logging", ())
        if any(flag.name == first.value for flag in of_absl):
            last = [*node.args, *(keyword.value for keyword in node.keywords)][-1]
            self._source.insert_after(last, ", allow_override=True")

    def _add_header(self) -> None:
        """Puts what must come first before the first statement that imports TensorFlow."""
        anchor = next((s for s in self._tree.body if _imports_tensorflow(s)), None)
        text = ""
        if anchor is not None:
            text = _KERAS + (_GRAPHS if self._generation == trees.TF1 else "")
        for module, name in sorted(self._added.items()):
            text += f"{_import_statement(Home(module, ''), name)}\n"
        if text:
            self._source.insert_before(anchor or _first_statement(self._tree), text)

    def _leave(self, line: int, dotted: str, error: Exception) -> None:
        self._left.append(Left(line, dotted, str(error)))


def _import_statement(home: Home, name: str) -> str:
    module, _, last = f"{home.module}.{home.path}".rstrip(".").rpartition(".")
    if module and (home.path or name == last or module.startswith(_CONTRIB[:-1])):
        return f"from {module} import {last}" + ("" if last == name else f" as {name}")
    whole = f"{module}.{last}" if module else last
    return f"import {whole}" if whole == name else f"import {whole} as {name}"


def _has_importable_parent(home: Home) -> bool:
    parent = f"{home.module}.{home.path}".rstrip(".").rpartition(".")[0]
    try:
        return not parent or importlib.util.find_spec(parent) is not None
    except ImportError:  # What stands before it is not a package.
        return False


def _names(node: ast.AST) -> list[str]:
    """The names that a node itself reads or binds, so that what is added takes none of them."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name for alias in node.names]
    return []


def _imports_tensorflow(statement: ast.stmt) -> bool:
    for node in ast.walk(statement):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        if any(name.split(".")[0] in symbols.ROOTS for name in names):
            return True
    return False


def _first_statement(tree: ast.Module) -> ast.stmt:
    """The first that imports may stand before."""
    for statement in tree.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not is_text and not future:
            return statement
    return tree.body[-1]
