"""The rules of the house: where private TensorFlow may be imported, and which way arrows point."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("estimator_train", "input_fns", "flags")
SOURCES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))

# A package may import those on lower floors; those on one floor may import each other.
FLOORS = [
    {"errors", "spec", "cluster", "ending", "export_outputs", "preemption"},
    {"run_config", "run_settings", "session_settings"},
    {"engine", "export", "hooks", "predictor"},
    {"estimator"},
    {"keras", "heads", "canned", "training", "tpu", "distribute"},
    {"compat", "experimental", "legacy"},
    {"cli"},
]


def imported_modules(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def uses_private_tensorflow(path: Path) -> bool:
    tree = ast.parse(path.read_text())
    attributes = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names = imported_modules(path) | attributes
    return any(
        name == "tensorflow.python" or name.startswith("tensorflow.python.") for name in names
    )


def test_one_file_alone_imports_private_tensorflow():
    found = {str(p.relative_to(ROOT)) for p in SOURCES if uses_private_tensorflow(p)}
    assert found <= {"estimator_train/engine/tf_internals.py"}


def test_private_use_is_noticed_in_every_spelling(tmp_path):
    for line in (
        "import tensorflow.python.framework.ops",
        "from tensorflow.python import ops",
        "from tensorflow import python\nfrom tensorflow.python.framework import ops as o",
        "import tensorflow\ntensorflow.python.framework",
    ):
        path = tmp_path / "sample.py"
        path.write_text(line)
        assert uses_private_tensorflow(path), line


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    package, *inner = path.relative_to(ROOT).with_suffix("").parts
    ours = {m for m in imported_modules(path) if m.split(".")[0] in PACKAGES}
    if package != "estimator_train":
        assert all(m.split(".")[0] == package for m in ours)
        return
    if inner[0] == "__init__":
        return
    if inner[0] != "cli":
        assert all(m.startswith("estimator_train") for m in ours)
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    here = floor[inner[0]]
    for module in ours:
        parts = module.split(".")
        if parts[0] == "estimator_train" and len(parts) > 1:
            assert floor.get(parts[1], -1) <= here, f"{path} imports {module} from above"


# Old scripts are run as they are, and may keep their own pickles.
OURS = [path for path in SOURCES if "legacy" not in path.parts]


@pytest.mark.parametrize("path", OURS, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_is_unpickled_or_evaluated(path):
    unsafe = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
    assert not unsafe & {name.split(".")[0] for name in imported_modules(path)}
    for call in (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)):
        assert ast.unparse(call.func) not in ("eval", "exec", "tempfile.mktemp", "os.system")
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert given.get("allow_pickle") != "True"
        assert given.get("shell") != "True"


def test_files_of_tests_have_names_of_their_own():
    """pytest takes a second file of one name for the first, and does not collect it."""
    names = [path.name for path in ROOT.joinpath("tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
