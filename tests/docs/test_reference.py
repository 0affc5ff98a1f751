"""The reference has every public name; none is hidden by how it is imported."""

import importlib
import importlib.util
import re
import types
from pathlib import Path

import pytest

import estimator_train as est
import estimator_train.compat.v1 as v1

DOCS = Path(__file__).parents[2] / "docs"
MODULES = {"experimental", "export", "hooks", "keras", "predictor"}
spec = importlib.util.spec_from_file_location("names", DOCS / "reference/names.py")
names = importlib.util.module_from_spec(spec)
spec.loader.exec_module(names)


def found(module, text):
    return {name for name, home in names.homes_of(module).items() if is_there(name, home, text)}


def is_there(name, home, text):
    return f"::: {home}\n" in f"{text}\n" or f"`{name}`" in text


def test_every_name_has_its_place():
    text = names.text_of("estimator_train")
    assert set(est.__all__) - MODULES == found("estimator_train", text)
    assert f"::: {names.homes_of('estimator_train')['RunConfig']}\n" in text
    assert names.homes_of("estimator_train")["RunConfig"].startswith("estimator_train.run_config.")


def test_names_of_v1_are_there():
    public = {
        name
        for name, value in vars(v1).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    listed = found("estimator_train.compat.v1", names.text_of("estimator_train.compat.v1"))
    assert public - listed == set()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_module_has_a_page_with_its_names(name):
    module = f"estimator_train.{name}"
    assert f"{{{{ names of {module} }}}}" in (DOCS / f"reference/{name}.md").read_text()
    public = getattr(importlib.import_module(module), "__all__", ())
    assert set(public) - found(module, names.text_of(module)) == set()


def test_the_contrib_page_lists_the_names_of_each_module():
    sections = names.list_contrib("tf.contrib").split("## ")[1:]
    listed = {}
    for section in sections:
        title, *found = re.findall(r"`([\w.]+)`", section)
        listed[title.removeprefix("tf.contrib.")] = set(found)
    for module in ("layers", "training", "crf"):
        contrib = importlib.import_module(f"estimator_train.legacy.contrib.{module}")
        assert listed[module] >= set(getattr(contrib, "__all__", ()))
        assert {name for name in listed[module] if not hasattr(contrib, name)} == set()
    assert {"fully_connected", "optimize_loss", "xavier_initializer"} <= listed["layers"]
