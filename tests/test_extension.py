"""`estimator_train.extension`: names of the engine for packages such as `tf_contrib`."""

import ast
import pkgutil
import sys
from pathlib import Path

import pytest
from processes import run_process

from estimator_train import extension


@pytest.mark.parametrize("name", extension.__all__)
def test_each_name_has_its_object_and_a_description(name):
    place, description = extension._NAMES[name]
    assert getattr(extension, name) is pkgutil.resolve_name(place)
    assert description.endswith(".")


def test_type_checkers_see_each_name():
    tree = ast.parse(Path(extension.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {
        alias.asname: f"{node.module}:{alias.name}" for node in block.body for alias in node.names
    }
    assert typed == {name: place for name, (place, _) in extension._NAMES.items()}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Nope'"):
        extension.Nope  # noqa: B018


@pytest.mark.long
def test_one_name_does_not_load_the_modules_of_others():
    program = (
        "import sys, estimator_train.extension as extension\n"
        "print('tensorflow' in sys.modules)\n"
        "extension.HookPhase\n"
        "print([name for name in ('canned', 'heads', 'training') "
        "if f'estimator_train.{name}' in sys.modules])\n"
    )
    assert run_process([sys.executable, "-c", program]).stdout == "False\n[]\n"
