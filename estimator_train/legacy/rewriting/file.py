"""Edits one file so that it imports the objects of old names from where they are today."""

import ast
import importlib.util
import re
from typing import NamedTuple

from absl import flags

from estimator_train.legacy import old_names
from estimator_train.legacy.imports import ROOTS
from estimator_train.legacy.reading import symbols
from estimator_train.legacy.rewriting.edits import Source
from estimator_train.legacy.rewriting.locations import Location, LocationFinder

# Module to the name that a copy imports it by.
_ALIASES = {
    "estimator_train": "estimator_train",
    "estimator_train.compat.v1": "tf_estimator",
    "tensorflow": "tf_v2",
    "tensorflow.compat.v1": "tf_v1",
}
_CONTRIB = "tf_contrib."
_KERAS_HEADER = """import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Read when TensorFlow is imported: tf.keras is tf-keras.
"""
_TF1_HEADER = """import tensorflow.compat.v1

tensorflow.compat.v1.disable_v2_behavior()
"""


class UnreplacedName(NamedTuple):
    """A name that the edits did not replace and that the user must change.

    Attributes:
      line: The line in the original file.
      name: The name as scripts write it.
      reason: Why the name was not replaced.
    """

    line: int
    name: str
    reason: str


class EditedFile(NamedTuple):
    """An edited file.

    Attributes:
      source: The content of the copy.
      unreplaced: The names that the user must change.
    """

    source: bytes
    unreplaced: list[UnreplacedName]


def rewrite_source(source: bytes, generation: str) -> EditedFile:
    """Edits a file so that it runs under `python`.

    Args:
      source: The content of the file.
      generation: TF1 or TF2, the TensorFlow that the file was written for.

    Raises:
      SyntaxError: The file is not Python 3.
    """
    return _FileEditor(source, generation).edit()


class _FileEditor:
    """Editor that collects the edits of one file."""

    def __init__(self, source: bytes, generation: str) -> None:
        self._source = Source(source)
        self._tree = self._source.tree
        self._generation = generation
        self._locations = LocationFinder(generation)
        self._used_names = {name for node in ast.walk(self._tree) for name in _find_names(node)}
        self._added: dict[str, str] = {}  # Module to the name of its added import.
        self._unreplaced: list[UnreplacedName] = []

    def edit(self) -> EditedFile:
        for node in ast.walk(self._tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._edit_import(node)
            elif isinstance(node, ast.Call):
                self._allow_flag_redefinition(node)
        for reference in symbols.find_references(self._tree, ROOTS):
            self._edit_reference(reference)
        self._add_header()
        return EditedFile(self._source.apply_edits(), sorted(self._unreplaced))

    def _edit_reference(self, reference: symbols.Reference) -> None:
        """Replaces an expression by the location of its object, unless it still refers to it."""
        try:
            known = self._locations.count_known(reference.symbol)
            dotted = ".".join(reference.symbol.split(".")[:known])
            parts = reference.parts[: known - 1 - reference.base.count(".")]
            if not parts:
                return  # The import binds the object; the names after it are its attributes.
            text = self._locations.literal(dotted)
            if text is None:
                if self._locations.is_at(dotted, self._find_binding(reference.base), parts):
                    return
                text = self._write_location(self._locations.find(dotted))
        except (AttributeError, ImportError) as error:
            self._report_unreplaced(reference.node.lineno, reference.symbol, error)
            return
        node: ast.expr = reference.node
        for _ in range(len(reference.parts) - len(parts)):
            assert isinstance(node, ast.Attribute)
            node = node.value
        written = re.sub(r"\s|#.*|\\", "", self._source.text(node)) if node.end_lineno else ""
        if not written.endswith(".".join(parts)) or not isinstance(reference.node.ctx, ast.Load):
            # Before Python 3.12 positions within an f-string can be wrong.
            reason = AttributeError(f"is now {text}; change it by hand here.")
            self._report_unreplaced(reference.node.lineno, reference.symbol, reason)
            return
        self._source.replace(node, text)

    def _find_binding(self, dotted: str) -> Location:
        """Returns the location of the object that the edited import of a name binds."""
        if "." not in dotted:
            return Location(self._locations.tensorflow if dotted == "tensorflow" else dotted, "")
        return self._locations.find(dotted)

    def _write_location(self, location: Location) -> str:
        """Returns the expression for a location, and adds the import of its module."""
        if location.module == "builtins":
            return location.path
        name = self._add_import(location.module)
        return f"{name}.{location.path}" if location.path else name

    def _add_import(self, module: str) -> str:
        """Adds the import of a module if needed, and returns the name that it binds."""
        if module == self._locations.tensorflow and "tf" in self._names_of_tensorflow():
            return "tf"
        if module not in self._added:
            name = _ALIASES.get(module, module.replace(".", "_"))
            if module.startswith(_CONTRIB):
                name = f"contrib_{module.removeprefix(_CONTRIB).replace('.', '_')}"
            while name in self._used_names:
                name += "_"
            self._used_names.add(name)
            self._added[module] = name
        return self._added[module]

    def _names_of_tensorflow(self) -> set[str]:
        """Returns the names that the file's imports of tensorflow bind."""
        return {
            alias.asname or alias.name
            for node in self._tree.body
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name == "tensorflow"
        }

    def _edit_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Replaces an import by one that binds the same names today."""
        if isinstance(node, ast.ImportFrom) and node.level:
            return
        lines = [self._write_import(node, alias) for alias in node.names]
        before = [self._write_original_import(node, alias) for alias in node.names]
        if lines == before:
            return
        indent = self._source.indent(node)
        separator = "; " if indent is None else f"\n{indent}"
        self._source.replace(node, separator.join(dict.fromkeys(lines)))

    def _write_import(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        """Returns the statement that imports one name today."""
        original = self._write_original_import(node, alias)
        dotted = alias.name
        if isinstance(node, ast.ImportFrom):
            dotted = f"{node.module}.{alias.name}" if alias.name != "*" else str(node.module)
        if dotted.split(".")[0] not in ROOTS:
            return original
        try:
            if isinstance(node, ast.Import) and not alias.asname:
                root = dotted.split(".")[0]
                module = self._find_binding(root).module
                return original if module == root else f"import {module} as {root}"
            location = self._find_binding(dotted)
        except (AttributeError, ImportError) as error:
            self._report_unreplaced(node.lineno, dotted, error)
            return original
        if alias.name == "*":
            return f"from {location.dotted} import *"
        bound = alias.asname or alias.name
        if not _has_importable_parent(location):
            return f"{bound} = {self._write_location(location)}"
        return _import_statement(location, bound)

    def _write_original_import(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        """Returns the original import of one name, as a statement."""
        name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
        return f"{start}import {name}"

    def _allow_flag_redefinition(self, node: ast.Call) -> None:
        """Lets the file define a flag that absl's logging defines too, such as `log_dir`."""
        function = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        first = node.args[0] if node.args else None
        if not function.startswith("DEFINE_") or not isinstance(first, ast.Constant):
            return
        logging_flags = flags.FLAGS.flags_by_module_dict().get("absl.logging", ())
        if any(flag.name == first.value for flag in logging_flags):
            last = [*node.args, *(keyword.value for keyword in node.keywords)][-1]
            self._source.insert_after(last, ", allow_override=True")

    def _add_header(self) -> None:
        """Inserts settings and added imports before the first statement that imports TensorFlow."""
        anchor = next((s for s in self._tree.body if _imports_tensorflow(s)), None)
        text = ""
        if anchor is not None:
            text = _KERAS_HEADER + (_TF1_HEADER if self._generation == old_names.TF1 else "")
        for module, name in sorted(self._added.items()):
            text += f"{_import_statement(Location(module, ''), name)}\n"
        if text:
            self._source.insert_before(anchor or _find_first_statement(self._tree), text)

    def _report_unreplaced(self, line: int, dotted: str, error: Exception) -> None:
        self._unreplaced.append(UnreplacedName(line, dotted, str(error)))


def _import_statement(location: Location, name: str) -> str:
    module, _, last = location.dotted.rpartition(".")
    if module and (location.path or name == last or module.startswith(_CONTRIB[:-1])):
        return f"from {module} import {last}" + ("" if last == name else f" as {name}")
    dotted = f"{module}.{last}" if module else last
    return f"import {dotted}" if dotted == name else f"import {dotted} as {name}"


def _has_importable_parent(location: Location) -> bool:
    parent = location.dotted.rpartition(".")[0]
    try:
        return not parent or importlib.util.find_spec(parent) is not None
    except ImportError:  # The parent of the parent is not a package.
        return False


def _find_names(node: ast.AST) -> list[str]:
    """Returns the names that a node itself reads or binds; added imports avoid these names."""
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


def _find_first_statement(tree: ast.Module) -> ast.stmt:
    """Returns the first statement after the docstring and the imports of `__future__`."""
    for statement in tree.body:
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not is_docstring and not is_future:
            return statement
    return tree.body[-1]
