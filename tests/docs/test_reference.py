"""The reference has every public name; none is hidden by how it is imported."""

import importlib
import importlib.util
import re
import types
from pathlib import Path

import pytest

import estimator_train as est

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("names", DOCS / "site/names.py")
names = importlib.util.module_from_spec(spec)
spec.loader.exec_module(names)


def public_names(module: str) -> set[str]:
    """Returns the names without modules, as the import has them."""
    loaded = importlib.import_module(module)
    found = getattr(loaded, "__all__", None) or [n for n in vars(loaded) if not n.startswith("_")]
    return {name for name in found if not isinstance(getattr(loaded, name), types.ModuleType)}


@pytest.mark.parametrize("module", names.MODULES)
def test_every_public_name_is_on_a_page(module):
    families = names.FAMILIES if module == "estimator_train" else ()
    text = "\n".join(names.text_of(module, family) for family in (None, *families))
    entries = set(re.findall(rf"^::: {re.escape(module)}\.(\w+)$", text, re.MULTILINE))
    headings = set(re.findall(r"^## `(\w+)`", text, re.MULTILINE))
    assert entries | headings >= public_names(module)


@pytest.mark.parametrize("module", names.PAGES)
def test_every_module_and_family_has_a_page(module):
    page = (DOCS / "reference" / names.PAGES[module]).read_text()
    family = "estimator_train in " if module in names.FAMILIES else ""
    assert f"{{{{ names of {family}{module} }}}}" in page


@pytest.mark.parametrize("module", names.MODULES)
def test_equal_names_in_two_modules_are_the_same_object(module):
    for name, home in names.homes_of(module).items():
        original = names.original_of(home)
        if original != module:
            here, there = (
                getattr(importlib.import_module(one), name) for one in (module, original)
            )
            assert here is there


def test_entries_show_the_public_names():
    assert "::: estimator_train.Estimator\n" in names.text_of("estimator_train")
    assert "::: estimator_train.heads" not in names.text_of("estimator_train", names.FAMILIES[1])
    assert names.homes_of("estimator_train")["Estimator"].endswith(".EstimatorV2")
    assert est.Estimator.__name__ == "EstimatorV2"


def test_the_contrib_page_lists_the_names_of_each_module():
    sections = names.list_contrib("tf.contrib").split("## ")[1:]
    listed = {}
    for section in sections:
        title, *found = re.findall(r"`([\w.]+)`", section)
        listed[title.removeprefix("tf.contrib.")] = set(found)
    for module in ("layers", "training", "crf"):
        contrib = importlib.import_module(f"tf_contrib.{module}")
        assert listed[module] >= set(getattr(contrib, "__all__", ()))
        assert {name for name in listed[module] if not hasattr(contrib, name)} == set()
    assert {"fully_connected", "optimize_loss", "xavier_initializer"} <= listed["layers"]
