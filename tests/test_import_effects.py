"""What importing a module changes, and the state that modules keep, as ARCHITECTURE.md lists it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "estimator_train"
SOURCES = sorted(p for p in PACKAGE.rglob("*.py") if "legacy" not in p.relative_to(PACKAGE).parts)
# Calls at the level of a module; every other one would change something behind the reader's back.
CALLS = {
    "__init__.py": {"_bootstrap.prepare_process()"},
    "__main__.py": {"sys.exit(main())"},
    "export/portable/tools.py": {"main(sys.argv[1])"},
    "engine/job.py": {"bootstrap.prepare_tensorflow()"},
}
CHANGING_METHODS = {
    "acquire", "add", "append", "clear", "extend", "insert", "pop", "remove", "set", "setdefault",
    "update",
}  # fmt: skip
STATE_MAKERS = ("ContextVar", "Lock", "Event", "WeakKeyDictionary", "count", "local")


def import_effects(text: str) -> set[str]:
    """Returns the calls, assignments to members and deletions at the level of a module."""
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        inner = node.body if isinstance(node, (ast.If, ast.For, ast.With, ast.Try)) else [node]
        for statement in inner:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
            to_member = any(isinstance(t, (ast.Attribute, ast.Subscript)) for t in targets)
            if is_call or to_member or isinstance(statement, ast.Delete):
                found.add(ast.unparse(statement))
    return found


def module_variables(tree: ast.Module) -> dict[str, ast.expr]:
    """Returns the variables of a module with their first values."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names = [name for target in node.targets for name in ast.walk(target)]
            found.update({n.id: node.value for n in names if isinstance(n, ast.Name)})
        elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
            found[node.target.id] = node.value
    return found


def changed_names(node: ast.AST) -> set[str]:
    """Returns the names whose objects a node changes."""
    if isinstance(node, ast.Global):
        return set(node.names)
    changed = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        changed = node.func.value if node.func.attr in CHANGING_METHODS else None
    elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
        changed = node.value
    return {changed.id} if isinstance(changed, ast.Name) else set()


def module_state(text: str) -> set[str]:
    """Returns the variables of a module that its functions change, and its caches."""
    tree = ast.parse(text)
    variables = module_variables(tree)
    makers = {
        name: ast.unparse(value.func).rpartition(".")[2]
        for name, value in variables.items()
        if isinstance(value, ast.Call)
    }
    found = {name for name, maker in makers.items() if maker in STATE_MAKERS}
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        local = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        if any(re.search(r"cache\b", ast.unparse(d)) for d in function.decorator_list):
            found.add(function.name)
        found |= {
            name
            for node in ast.walk(function)
            for name in changed_names(node)
            if name in variables and name in local
        }
    return found


def listed_state() -> dict[str, set[str]]:
    """Returns the state of each module in the second table of ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text().partition("Other state of modules")[2]
    rows = re.findall(r"^\| `([\w/]+\.py)` \| (.*?) \| (.+) \|$", text, re.MULTILINE)
    return {path: set(re.findall(r"`(\w+)`", names)) for path, names, _ in rows}


# Calls of `legacy/preparation.py` that change nothing in the process, or undo a change.
NO_CHANGES = {"clear_caches", "import_module", "insert", "original", "remove", "setLevel"}


def made_changes(text: str) -> set[str]:
    """Returns the functions and attributes by which a file changes the process."""
    tree = ast.parse(text)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) or ast.unparse(function) not in own:
                found.add(ast.unparse(function).rpartition(".")[2])
        for target in node.targets if isinstance(node, ast.Assign) else []:
            if isinstance(target, ast.Subscript):
                found.add(ast.unparse(target.value))
            elif isinstance(target, ast.Attribute):
                is_dunder = target.attr.startswith("__")
                found.add(ast.unparse(target).split(".")[-2 if is_dunder else -1])
    return found - NO_CHANGES


def test_an_old_program_gets_the_changes_that_the_architecture_lists():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    table = text.partition("| call in `legacy/preparation.py`")[2].partition("\n\n")[0]
    listed = re.findall(r"`([\w.]+)`", "\n".join(re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)))
    modules = {"ImportRedirector", "keras_packages", "protos", "slice_lists"}
    made = made_changes((PACKAGE / "legacy/preparation.py").read_text())
    assert set(listed) - modules == made


def test_importing_a_module_changes_only_what_is_listed():
    found = {str(path.relative_to(PACKAGE)): import_effects(path.read_text()) for path in SOURCES}
    assert {path: effects for path, effects in found.items() if effects} == CALLS


def test_state_of_modules_is_what_the_architecture_lists():
    found = {str(path.relative_to(PACKAGE)): module_state(path.read_text()) for path in SOURCES}
    assert {path: names for path, names in found.items() if names} == listed_state()


@pytest.mark.parametrize(
    "text",
    ["install()", "os.environ['A'] = '1'", "tf.io.write = write", "if old:\n  patch()", "del a.b"],
)
def test_every_kind_of_effect_is_detected(text):
    assert import_effects(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = {}\ndef f(): a[1] = 2",
        "a = []\ndef f(): a.append(1)",
        "a = None\ndef f():\n  global a\n  a = 1",
        "a = threading.Lock()",
        "@functools.cache\ndef a(): return 1",
    ],
)
def test_every_kind_of_state_is_detected(text):
    assert module_state(text) == {"a"}
