"""tf_keras 2.16 to 2.18 draws the same seeds on Python 3.12."""

import importlib
import random
import sys

import pytest

from estimator_train.bootstrap import keras_seeds

# Calls `randint` like tf_keras 2.16; since Python 3.12 a float raises TypeError.
DRAWS = """
import random

generator = None


def set_random_seed(seed):
    global generator
    random.seed(seed)
    generator = random.Random(seed)


def draws():
    return generator.randint(1, 1e9), random.randint(1, 1e9)
"""


@pytest.fixture
def name(tmp_path, monkeypatch):
    (tmp_path / "draws_seeds.py").write_text(DRAWS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "version_info", (3, 12, 0))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    yield "draws_seeds"
    del sys.modules["draws_seeds"]


@pytest.mark.parametrize("is_imported_first", [False, True])
def test_float_seeds_give_the_numbers_of_integer_seeds(name, is_imported_first):
    state = random.getstate()
    finders = len(sys.meta_path)
    if is_imported_first:
        importlib.import_module(name)
    keras_seeds.install(name)
    module = importlib.import_module(name)
    module.set_random_seed(7)
    expected = random.Random(7).randint(1, 10**9)
    assert module.draws() == (expected, expected)
    assert type(module.draws()[0]) is int
    assert module.random.Random is not random.Random
    assert len(sys.meta_path) == finders
    random.setstate(state)
