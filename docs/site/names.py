"""Fills the pages of the reference: the public names of modules, with docstrings and examples.

A hook of mkdocs. Names are read from the sources, so that TensorFlow need not be installed. The
examples are in `docs/reference/examples`; `tests/docs/test_reference_examples.py` runs them.
"""

import ast
import functools
import re
from pathlib import Path
from typing import Any

import estimator_train

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs/reference/examples"
CONTRIB = "tf_contrib"
# The pages of modules and families. A name that several modules have is described in the first.
PAGES = {
    "estimator_train": "estimator_train.md",
    "estimator_train.canned": "canned.md",
    "estimator_train.heads": "heads.md",
    "tensorflow": "session_hooks.md",
    "estimator_train.experimental": "experimental.md",
    "estimator_train.export": "export.md",
    "estimator_train.keras": "keras.md",
    "estimator_train.hooks": "hooks.md",
    "estimator_train.predictor": "predictor.md",
    "estimator_train.tpu": "tpu.md",
    "estimator_train.compat": "compat.md",
    "estimator_train.compat.v1": "compat_v1.md",
    "estimator_train.compat.v1.inputs": "compat_v1.md",
    "estimator_train.compat.v1.experimental": "compat_v1.md",
    "input_fns": "input_fns.md",
    "flags": "flags.md",
}
FAMILIES = ("estimator_train.canned", "estimator_train.heads", "tensorflow")
MODULES = [module for module in PAGES if module not in FAMILIES]
_MARK = re.compile(r"\{\{ names of ([\w.]+)(?: in ([\w.]+))? \}\}")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replaces the mark of a page by the names of its module."""

    def describe(match: re.Match[str]) -> str:
        if match[1] == "tf.contrib":
            return list_contrib(match[1])
        return text_of(match[1], match[2])

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


def text_of(module: str, family: str | None = None) -> str:
    """Returns the section of a module: its description, and an entry for each public name.

    Args:
      module: Name of the module.
      family: Selects the names that are defined below this package; without it, the names that
        are in no family.
    """
    lines = []
    if family is None:
        description = ast.get_docstring(ast.parse(source_of(module).read_text())) or ""
        lines.append(description.replace("\n    ", "\n\n    ", 1))
    begin, examples = examples_of(module)
    lines.append(f"The examples of this page begin with:\n\n```python\n{begin}```")
    homes = homes_of(module)
    for name in sorted(name for name, home in homes.items() if family_of(module, home) == family):
        original = original_of(homes[name])
        if original != module:
            link = f"{page_of(original, homes[name])}#{original}.{name}"
            lines.append(f"## `{name}`\n\nThe same as [`{original}.{name}`]({link}).")
            continue
        if is_ours(homes[name]):
            lines.append(f"::: {module}.{name}\n\nExample:")
        else:
            lines.append(f"## `{name}` {{ #{module}.{name} }}\n\nThe same as `{homes[name]}`.")
        lines.append(f"```python\n{examples[name]}```")
    return "\n\n".join(lines)


def family_of(module: str, home: str) -> str | None:
    """Returns the package whose names have a separate page, if a definition is in one."""
    families = FAMILIES if module == "estimator_train" else ()
    return next((family for family in families if home.startswith(f"{family}.")), None)


def original_of(home: str) -> str:
    """Returns the first module of the reference that has a definition."""
    return next(module for module in MODULES if home in homes_of(module).values())


def page_of(module: str, home: str) -> str:
    """Returns the page of a module or of a family."""
    return PAGES[family_of(module, home) or module]


def names_with_entries(module: str) -> set[str]:
    """Returns the names of a module that no earlier module of the reference has."""
    return {name for name, home in homes_of(module).items() if original_of(home) == module}


def examples_of(module: str) -> tuple[str, dict[str, str]]:
    """Returns the beginning of the examples of a module, and the example for each name."""
    text = (EXAMPLES / f"{module}.py").read_text()
    begin, *sections = re.split(r"^# %% (.+)\n", text.partition('"""\n')[2], flags=re.MULTILINE)
    examples = {}
    for names, code in zip(sections[::2], sections[1::2], strict=True):
        examples |= dict.fromkeys(names.split(", "), code.strip() + "\n")
    return begin.strip() + "\n", examples


@functools.cache
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
    return home.split(".")[0] in ("estimator_train", "tf_contrib", "input_fns", "flags")


def source_of(module: str) -> Path:
    """Returns the file of a module."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
