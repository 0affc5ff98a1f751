"""Every public name of the reference has an example, which runs in an empty directory."""

import importlib.util
import sys
from pathlib import Path

import pytest
from processes import run_process

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


# Runs each program in its directory. A failed one ends the process with its traceback.
RUN = """
import os, runpy, sys
import estimator_train

for path in sys.argv[1:]:
    os.chdir(os.path.dirname(path))
    print(path, flush=True)
    runpy.run_path(path, run_name="__main__")
"""


@pytest.mark.long
@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module, tmp_path):
    begin, examples = names.examples_of(module)
    programs = []
    for number, code in enumerate(dict.fromkeys(examples.values())):
        program = tmp_path / str(number) / "example.py"
        program.parent.mkdir()
        program.write_text(f"{begin}\n{code}")
        programs.append(program)
    command = [sys.executable, "-c", RUN, *programs]  # A new process: tf.keras must be Keras 2.
    run_process(command)
