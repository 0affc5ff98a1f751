"""Fixture that runs Python in a new environment."""

import pytest
from environments import create, run_python


@pytest.fixture
def environment(tmp_path):
    """Returns a function that runs Python in a new environment."""
    python, packages = create(tmp_path / "environment")

    def run(*arguments, **options):
        return run_python(python, *arguments, cwd=tmp_path, **options)

    run.packages = packages
    return run
