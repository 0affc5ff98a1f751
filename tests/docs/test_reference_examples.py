"""Every public name of the reference has an example, which runs in an empty directory."""

import importlib.util
import subprocess
from pathlib import Path

import forked
import pytest

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("names", DOCS / "site/names.py")
names = importlib.util.module_from_spec(spec)
spec.loader.exec_module(names)
MODULES = sorted(path.stem for path in names.EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_every_name_has_an_example_that_uses_it(module):
    begin, examples = names.examples_of(module)
    assert set(examples) == set(names.names_with_entries(module))
    missing = {name for name, code in examples.items() if name not in begin + code}
    assert missing == set()


@pytest.mark.long
@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module, tmp_path):
    begin, examples = names.examples_of(module)
    for number, code in enumerate(dict.fromkeys(examples.values())):
        directory = tmp_path / str(number)
        directory.mkdir()
        (directory / "example.py").write_text(f"{begin}\n{code}")
        done = subprocess.run(
            [*forked.python(), "example.py"],
            cwd=directory,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}{done.stderr}"
