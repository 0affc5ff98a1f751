"""The rules of the house: where private TensorFlow may be imported, and which way arrows point."""

import ast
from pathlib import Path

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


def imports_from_above(path: Path) -> list[str]:
    """What a file imports that it may not."""
    package, *inner = path.relative_to(ROOT).with_suffix("").parts
    ours = sorted(m for m in imported_modules(path) if m.split(".")[0] in PACKAGES)
    if package != "estimator_train":
        return [m for m in ours if m.split(".")[0] != package]
    if inner[0] == "__init__":
        return []
    strange = [] if inner[0] == "cli" else [m for m in ours if not m.startswith("estimator_train")]
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    inside = [m.split(".") for m in ours if m.startswith("estimator_train.")]
    return strange + [".".join(m) for m in inside if floor.get(m[1], -1) > floor[inner[0]]]


def test_imports_point_down():
    found = {str(path.relative_to(ROOT)): imports_from_above(path) for path in SOURCES}
    assert not {path: modules for path, modules in found.items() if modules}


# Old scripts are run as they are, and may keep their own pickles.
OURS = [path for path in SOURCES if "legacy" not in path.parts]


def unsafe_uses(path: Path) -> list[str]:
    """What a file could be made to run code by."""
    tree = ast.parse(path.read_text())
    unsafe = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
    found = sorted(unsafe & {name.split(".")[0] for name in imported_modules(path)})
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if ast.unparse(call.func) in ("eval", "exec", "tempfile.mktemp", "os.system"):
            found.append(ast.unparse(call.func))
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        found += [name for name in ("allow_pickle", "shell") if given.get(name) == "True"]
    return found


def test_nothing_is_unpickled_or_evaluated():
    found = {str(path.relative_to(ROOT)): unsafe_uses(path) for path in OURS}
    assert not {path: uses for path, uses in found.items() if uses}


def test_files_of_tests_have_names_of_their_own():
    """pytest takes a second file of one name for the first, and does not collect it."""
    names = [path.name for path in ROOT.joinpath("tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
