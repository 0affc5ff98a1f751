"""The second tier has all tests of this folder, the first tier has `test_sample.py`."""

from pathlib import Path

from legacy_programs import run  # noqa: F401
from tiers import move_to_second_tier

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Marks the tests of this folder before pytest selects those of a tier."""
    move_to_second_tier(
        item for item in items if HERE in item.path.parents and item.path.stem != "test_sample"
    )
