"""The rules of the house: which way the arrows between rooms point, and what a room may hold."""

import ast
import fnmatch
import functools
import json
import re
import sys
from collections import Counter
from pathlib import Path

import legacy_imports
import pytest
from processes import run_process
from rooms import ROOMS, UPWARD

ROOT = Path(__file__).parent.parent
PACKAGES = ("estimator_train", "input_fns", "flags")
# Folders of tests that cover several rooms.
ACROSS = {"chaos", "conformance", "distribute", "resume"}
SOURCES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))


@functools.cache
def imported_modules(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCES
}


def room_of(module: str) -> str:
    """Returns the room of a module, as `rooms.ROOMS` names it."""
    inside = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    if module == "estimator_train.engine.context":
        return "engine.context"  # Above the checkpoints, which know no context.
    if module == "estimator_train.__main__":
        return "cli"  # Its entry point for `python -m`.
    if inside.startswith("estimator_train.legacy.contrib"):
        return "legacy.contrib"
    return inside.removeprefix("estimator_train.")


def modules_in_strings(path: Path) -> set[str]:
    """Returns the names of this package, as module.name, that a file has as strings."""
    texts = {n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)}
    pattern = r"estimator_train(\.\w+)+(:[\w.]+)?"
    return {t.replace(":", ".") for t in texts if isinstance(t, str) and re.fullmatch(pattern, t)}


def arrows(modules: dict[str, Path]) -> set[tuple[str, str]]:
    """Returns pairs of rooms: the first imports from the second, or names it in a string.

    The strings of `legacy` are tables of what old programs import.
    """
    found = set()
    for module, path in modules.items():
        in_strings = set() if is_legacy(module) else modules_in_strings(path)
        for name in imported_modules(path) | in_strings:
            target = name if name in MODULES else name.rpartition(".")[0]
            if target in MODULES:
                found.add((room_of(module), room_of(target)))
    return {(source, target) for source, target in found if source != target}


def circle_in(rooms: dict[str, str]) -> list[str]:
    """Returns rooms that import from each other, in their order; empty if no cycle exists."""
    left = {room: set(targets.split()) for room, targets in rooms.items()}
    while ground := {room for room, targets in left.items() if not targets & set(left)}:
        left = {room: targets for room, targets in left.items() if room not in ground}
    return sorted(left)


def test_rooms_import_from_those_that_are_listed():
    listed = {(room, target) for room, targets in ROOMS.items() for target in targets.split()}
    found = arrows(MODULES)
    assert sorted(found - listed - set(UPWARD)) == []
    assert sorted(listed - found) == []
    assert sorted(set(UPWARD) - found) == []
    assert sorted({room_of(module) for module in MODULES} - set(ROOMS)) == []


def test_rooms_import_in_no_circle():
    assert circle_in(ROOMS) == []
    assert circle_in({"a": "b", "b": "c", "c": "b", "d": ""}) == ["a", "b", "c"]


def test_no_room_is_crowded():
    files = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    del files[ROOT / "estimator_train/cli/commands"]  # One file for each command.
    assert {str(room): count for room, count in files.items() if count > 15} == {}


def test_the_library_does_not_import_flags_and_inputs():
    """Checks that only `cli` imports `flags` and `input_fns`: old codebases have a `flags.py` too.

    These two work without the library, but that `flags` reads the cluster as the engine does.
    """
    for module, path in MODULES.items():
        package = module.split(".")[0]
        others = {name for name in imported_modules(path) if name.split(".")[0] in PACKAGES}
        others = {name for name in others if name.split(".")[0] != package}
        if package == "flags":
            others = {n for n in others if not n.startswith("estimator_train.cluster.")}
        assert not others or room_of(module).split(".")[0] == "cli", path


def mentions(path: Path) -> set[tuple[str, str]]:
    """Returns the (module, name) pairs of this package that a file imports or has as a string.

    The name is "" where the file imports or names a module as a whole.
    """
    found = {name for name in imported_modules(path) if name.startswith("estimator_train")}
    found |= modules_in_strings(path)
    pairs = set()
    for name in found:
        module = name
        while module not in MODULES and "." in module:
            module = module.rpartition(".")[0]
        pairs.add((module, name[len(module) + 1 :].partition(".")[0]))
    return pairs


def is_legacy(module: str) -> bool:
    return module.startswith("estimator_train.legacy")


def test_legacy_imports_public_names_and_those_that_are_listed():
    found = {
        (module, name)
        for importer, path in MODULES.items()
        if is_legacy(importer)
        for module, name in mentions(path)
        if not is_legacy(module)
        and (module not in legacy_imports.PUBLIC_MODULES or name.startswith("_"))
    }
    modules = {module for module, name in found if not name}
    names: dict[str, set[str]] = {}
    for module, name in found:
        if module not in modules:
            names.setdefault(module, set()).add(name)
    assert modules == set(legacy_imports.OTHER_MODULES)
    assert names == {m: set(names.split()) for m, names in legacy_imports.OTHER_NAMES.items()}


def test_only_the_entrances_import_legacy():
    found = {
        module
        for module, path in MODULES.items()
        if not is_legacy(module) and any(is_legacy(name) for name, _ in mentions(path))
    }
    assert found == legacy_imports.ENTRANCES


# Old scripts run unedited, and may use pickles.
OURS = [path for path in SOURCES if "legacy" not in path.parts]


def unsafe_uses(path: Path) -> list[str]:
    """Yields calls that could execute code from a file."""
    tree = ast.parse(path.read_text())
    unsafe = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
    found = sorted(unsafe & {name.split(".")[0] for name in imported_modules(path)})
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if ast.unparse(call.func) in ("eval", "exec", "tempfile.mktemp", "os.system"):
            found.append(ast.unparse(call.func))
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        found += [name for name in ("allow_pickle", "shell") if given.get(name) == "True"]
        found += ["preexec_fn"] * ("preexec_fn" in given)  # It can deadlock where threads run.
    return found


def test_nothing_is_unpickled_or_evaluated():
    found = {str(path.relative_to(ROOT)): unsafe_uses(path) for path in OURS}
    assert not {path: uses for path, uses in found.items() if uses}


def test_test_files_have_unique_names():
    """pytest takes a second file of one name for the first, and does not collect it."""
    names = [path.name for path in ROOT.joinpath("tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_test_folders_mirror_the_packages():
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    homes = (ROOT, ROOT / "estimator_train")
    assert {
        str(folder)
        for folder in folders
        if folder.parts
        and folder.parts[0] not in ACROSS
        and not any((home / folder).is_dir() for home in homes)
    } == set()


def test_every_package_is_installed():
    """Tests see the checkout; an installation has only the packages that pyproject.toml lists."""
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[tool.setuptools.packages.find]\n")[2]
    patterns = ast.literal_eval(re.match(r"include = (\[.*\])\n", section)[1])
    packages = {module for module, path in MODULES.items() if path.name == "__init__.py"}
    assert {p for p in packages if not any(fnmatch.fnmatch(p, pat) for pat in patterns)} == set()


def _join_private(name):
    private = "engine/tf_internals"
    return private if name.startswith(private) else name


@pytest.fixture(scope="module")
def walks():
    # A process of its own: the programs of `forked` have imported TensorFlow before the package.
    command = [sys.executable, str(ROOT / "tests/support/walk.py")]
    done = run_process(command)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("verb", "limit", "complete_limit", "last"),
    [("train", 20, 52, "unfinished"), ("evaluate", 17, 40, "best")],
)
def test_a_plain_call_walks_through_few_files(walks, verb, limit, complete_limit, last):
    call, complete = walks[verb]["call"], walks[verb]["complete"]
    # The files of private TensorFlow, one for each subject, count as one.
    assert 10 < len({_join_private(name) for name in call}) <= limit, sorted(call)
    assert {name for name, places in call.items() if len(places) > 2} == set()
    assert len({_join_private(name) for name in complete}) <= complete_limit, sorted(complete)
    assert {"estimator/config_defaults.py", f"engine/checkpoints/{last}.py"} <= complete.keys()
