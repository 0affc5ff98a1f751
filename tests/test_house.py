"""House rules: what packages may import, besides the layers in pyproject.toml, and contain."""

import ast
import contextlib
import fnmatch
import functools
import importlib.metadata
import json
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from processes import run_process

from estimator_train.extension import __all__ as EXTENSION  # noqa: N812
from tests import legacy_imports

ROOT = Path(__file__).parent.parent
PACKAGES = ("estimator_train", "tf_contrib", "input_fns", "flags")
# Folders of tests that cover several packages.
ACROSS = {"chaos", "conformance", "distribute", "gpu", "resume"}
# Folders of tests whose package has another name.
PACKAGES_OF_TESTS = {"contrib": "tf_contrib"}
FUNCTIONS = (ast.FunctionDef, ast.ClassDef)
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


def modules_in_strings(path: Path) -> set[str]:
    """Returns the names of this package, as module.name, that a file has as strings."""
    texts = {n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)}
    pattern = r"estimator_train(\.\w+)+(:[\w.]+)?"
    return {t.replace(":", ".") for t in texts if isinstance(t, str) and re.fullmatch(pattern, t)}


def test_every_module_belongs_to_a_layer():
    """import-linter checks the order of the layers, but not that a new module is in one."""
    text = (ROOT / "pyproject.toml").read_text()
    section = re.search(r"^layers = \[\n(.*?)^\]", text, re.DOTALL | re.MULTILINE)[1]
    layers = {layer for line in ast.literal_eval(f"[{section}]") for layer in line.split(" : ")}
    bare = {m for m, path in MODULES.items() if m in PACKAGES or _is_docstring_only(path)}
    assert layers <= MODULES.keys()
    assert [m for m in MODULES if m not in bare and not layers & {*_packages_of(m)}] == []


def _is_docstring_only(path: Path) -> bool:
    return all(isinstance(node, ast.Expr) for node in ast.parse(path.read_text()).body)


def _packages_of(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def test_flags_and_inputs_work_without_the_library():
    """Checks that only `flags.run_config` imports it: it reads the cluster as the engine does."""
    for module, path in MODULES.items():
        if module.partition(".")[0] in ("flags", "input_fns"):
            others = {n for n in imported_modules(path) if n.startswith(PACKAGES[:2])}
            assert not {n for n in others if not n.startswith("estimator_train.cluster.")}, path


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


def test_tf_contrib_imports_public_names_and_the_extension():
    imported = {
        (module, name)
        for importer, path in MODULES.items()
        if importer.partition(".")[0] == "tf_contrib"
        for module, name in mentions(path)
    }
    extension = "estimator_train.extension"
    assert {name for module, name in imported if module == extension} == set(EXTENSION)
    assert {
        (module, name)
        for module, name in imported
        if module not in (extension, *legacy_imports.PUBLIC_MODULES) or name.startswith("_")
    } == set()


def test_only_the_entrances_import_legacy():
    found = {
        module
        for module, path in MODULES.items()
        if not is_legacy(module) and any(is_legacy(name) for name, _ in mentions(path))
    }
    assert found == legacy_imports.ENTRANCES


# Old scripts run unedited, and may use pickles; so do vocabularies of `tf.contrib.learn`.
OURS = [path for path in SOURCES if not {"legacy", "tf_contrib"} & {*path.parts}]


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
        and not any((home / PACKAGES_OF_TESTS.get(str(folder), folder)).is_dir() for home in homes)
    } == set()


def test_every_module_of_the_core_is_named_by_a_test():
    tests = [path for path in (ROOT / "tests").rglob("test_*.py") if "programs" not in path.parts]
    names = {path.stem.removeprefix("test_") for path in tests}
    imported = {name for path in tests for name in imported_modules(path)}
    texts = "\n".join(path.read_text() for path in tests)
    unnamed = [
        module
        for module, path in MODULES.items()
        if module.split(".")[0] != "tf_contrib" and not module.startswith("estimator_train.legacy")
        if any(isinstance(part, FUNCTIONS) for part in ast.parse(path.read_text()).body)
        if path.stem not in {*names, "__init__", "__main__"}
        if f"{path.parent.name}/{path.name}`" not in texts
        if not any(f"{name}.".startswith(f"{module}.") for name in imported)
    ]
    # A script that made a file of the package.
    assert unnamed == ["input_fns.data.make_digits"], "Name each in the docstring of its test."


def _required(name: str, extra: str = "") -> set[str]:
    """Returns the distributions that an installation of one, with an extra, brings."""
    names, waiting = set(), [(name, extra)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in names:
            continue
        names.add((name, extra))
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            for text in importlib.metadata.requires(name) or ():
                each = Requirement(text)
                if each.marker is None or each.marker.evaluate({"extra": extra}):
                    waiting += [(canonicalize_name(each.name), x) for x in {"", *each.extras}]
    return {name for name, _ in names}


def test_tests_replace_sleep_for_their_own_thread_only():
    """Another thread that polls would fill the machine's memory (`support/sleeps.py`)."""
    replaces = re.compile(r'setattr\([^)]*\bsleep"')
    found = {
        path.name for path in (ROOT / "tests").rglob("*.py") if replaces.search(path.read_text())
    }
    assert found == {"sleeps.py"}


def test_files_of_tests_can_be_collected_without_the_slow_tier():
    """The first tier collects every file, in an environment that has only the extra `test`."""
    distributions = importlib.metadata.packages_distributions()
    required = _required("estimator-train", "test")
    missing = {}
    for path in ROOT.joinpath("tests").rglob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", None) or node.names[0].name
                package = module.split(".")[0]
                if package == "tests":  # Some distributions install a package of this name.
                    continue
                names = distributions.get(package, ())
                brought = {canonicalize_name(name) for name in names}
                if brought and not brought & required:
                    missing[str(path.relative_to(ROOT))] = module
    assert not missing, "Import it in the test: the first tier is installed without it."


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
    [("train", 21, 35, "model_dir"), ("evaluate", 17, 29, "best")],
)
def test_a_plain_call_walks_through_few_files(walks, verb, limit, complete_limit, last):
    call, complete = walks[verb]["call"], walks[verb]["complete"]
    # The files of private TensorFlow, one for each subject, count as one.
    assert 10 < len({_join_private(name) for name in call}) <= limit, sorted(call)
    often = {name for name, places in call.items() if len(places) > 2}
    # The program and two parts of the engine make specs; all parts ask the job and its `Alone`; the
    # job calls the members of Estimator that programs override. TensorFlow calls `modes` and, for
    # each variable, `variable_copies`; all parts walk through graphs and count sizes. Savers, loops
    # and hooks use `tf_hooks`.
    often -= {"engine/job.py", "engine/together/alone.py", "estimator/estimator.py"}
    shared = ("modes", "graphs", "constants", "tf_hooks")
    often -= {f"engine/tf_internals/{name}.py" for name in shared}
    often -= {f"engine/tf_internals/{kind}_copies.py" for kind in ("operation", "variable")}
    assert often <= {"estimator_spec/__init__.py", "engine/checkpoints/reading.py"}
    assert len({_join_private(name) for name in complete}) <= complete_limit, sorted(complete)
    assert {"estimator/construction.py", f"engine/checkpoints/{last}.py"} <= complete.keys()
