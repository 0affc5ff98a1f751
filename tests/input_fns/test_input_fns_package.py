import ast
import sys
from pathlib import Path

import input_fns

FOLDER = Path(input_fns.__file__).parent


def test_importing_needs_only_tensorflow_numpy_and_protobuf():
    found = set()
    for path in {*FOLDER.rglob("*.py")} - {*FOLDER.glob("data/*.py")}:  # Run by hand.
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.split(".")[0])
    assert found - sys.stdlib_module_names == {"google", "input_fns", "numpy", "tensorflow"}


def test_public_names_exist_and_have_docstrings():
    for name in input_fns.__all__:
        assert getattr(input_fns, name).__doc__.startswith(tuple("RSMW")), name
        assert f"`{name}`" in input_fns.__doc__


def test_readme_of_the_data_names_origin_and_licence():
    text = (FOLDER / "data" / "README.md").read_text()
    for part in ("E. Alpaydin", "C. Kaynak", "UCI", "CC BY 4.0", "1,437", "360"):
        assert part in text
