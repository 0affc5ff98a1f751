"""Fills the pages of the reference: every public name of a module, by its docstring.

A hook of mkdocs. Names are read from the sources, so that TensorFlow need not be installed.
"""

import ast
import re
from pathlib import Path
from typing import Any

import estimator_train

ROOT = Path(__file__).parents[2]
CONTRIB = "estimator_train.legacy.contrib"
_MARK = re.compile(r"\{\{ names of ([\w.]+) \}\}")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replaces the mark of a page by the names of its module."""

    def describe(match: re.Match[str]) -> str:
        return list_contrib(match[1]) if match[1] == "tf.contrib" else text_of(match[1])

    return _MARK.sub(describe, markdown)


def list_contrib(package: str) -> str:
    """Returns a list of the modules of tf.contrib with their public names."""
    lines = []
    for path in sorted(source_of(CONTRIB).parent.iterdir()):
        module = f"{CONTRIB}.{path.stem}"
        if path.stem.startswith("_") or not source_of(module).exists():
            continue
        homes = homes_of(module)
        names = {name for name, home in homes.items() if is_ours(home) or home.startswith("tf.")}
        names |= set(public_of(ast.parse(source_of(module).read_text())) or ())
        if names:
            listed = ", ".join(f"`{name}`" for name in sorted(names))
            lines.append(f"## `{package}.{path.stem}`\n\n{listed}")
    return "\n\n".join(lines)


def text_of(module: str) -> str:
    """Returns the section of a module: its description, and an entry for each public name."""
    tree = ast.parse(source_of(module).read_text())
    lines = [(ast.get_docstring(tree) or "").replace("\n    ", "\n\n    ", 1)]
    homes = homes_of(module)
    theirs = sorted(name for name, home in homes.items() if not is_ours(home))
    for home in sorted(homes.values()):
        if is_ours(home):
            lines.append(f"::: {home}")
    if theirs:
        lines.append("## Names of TensorFlow\n\n" + ", ".join(f"`{name}`" for name in theirs))
    return "\n\n".join(lines)


def homes_of(module: str) -> dict[str, str]:
    """Returns the public names of a module, without modules, and the place of each definition."""
    if module == "estimator_train":
        homes = {name: home.replace(":", ".") for name, home in estimator_train._HOMES.items()}
        return {name: defined(home) for name, home in homes.items() if not home.endswith(".")}
    tree = ast.parse(source_of(module).read_text())
    names = {}
    loaded_late = [node for part in tree.body if isinstance(part, ast.If) for node in part.body]
    for node in [*tree.body, *loaded_late]:
        if isinstance(node, ast.ImportFrom) and node.module != "typing":
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = f"{module}.{node.name}"
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith(("tf.", "_tf.")):
            names[ast.unparse(node.targets[0])] = ast.unparse(node.value)
        elif isinstance(node, ast.Assign) and ast.unparse(node.value) in names:
            names[ast.unparse(node.targets[0])] = names[ast.unparse(node.value)]
    public = public_of(tree) or [name for name in names if not name.startswith("_")]
    homes = {name: defined(home) for name, home in names.items() if name in public}
    return {name: home for name, home in homes.items() if not source_of(home).exists()}


def public_of(tree: ast.Module) -> list[str] | None:
    """Returns `__all__` of a module, if it is a list of strings."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            try:
                return list(ast.literal_eval(node.value))
            except ValueError:
                return None
    return None


def defined(home: str) -> str:
    """Returns the place of a definition, behind packages that only import the name."""
    module, _, name = home.rpartition(".")
    if module == "estimator_train" and name in estimator_train._HOMES:
        found = estimator_train._HOMES[name].replace(":", ".").rstrip(".")
        return found if found == home else defined(found)
    if is_ours(home) and source_of(module).exists():
        for node in ast.parse(source_of(module).read_text()).body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    found = f"{node.module}.{alias.name}"
                    if (alias.asname or alias.name) == name and found != home:
                        return defined(found)
    return home


def is_ours(home: str) -> bool:
    """Returns whether a name is defined in this repository."""
    return home.split(".")[0] in ("estimator_train", "input_fns", "flags")


def source_of(module: str) -> Path:
    """Returns the file of a module."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
