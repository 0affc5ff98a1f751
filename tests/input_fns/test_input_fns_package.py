import ast
import sys
from pathlib import Path

import input_fns

FOLDER = Path(input_fns.__file__).parent


def test_importing_it_needs_tensorflow_and_numpy_alone():
    found = set()
    for path in {*FOLDER.rglob("*.py")} - {*FOLDER.glob("data/*.py")}:  # Run by hand.
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.split(".")[0])
    assert found - sys.stdlib_module_names == {"input_fns", "numpy", "tensorflow"}


def test_public_names_are_there_and_described():
    for name in input_fns.__all__:
        assert getattr(input_fns, name).__doc__.startswith(tuple("GRSMW")), name
        assert f"`{name}`" in input_fns.__doc__


def test_the_data_tells_its_origin_and_licence():
    text = (FOLDER / "data" / "README.md").read_text()
    for part in ("E. Alpaydin", "C. Kaynak", "UCI", "CC BY 4.0", "1,437", "360"):
        assert part in text
