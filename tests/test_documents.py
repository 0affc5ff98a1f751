"""The documents agree with the code: the picture of the rooms, the files and links they name."""

import re
from pathlib import Path

import pytest
from rooms import ROOMS

import estimator_train

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    p for names in ("*.md", "docs/*.md", "tests/oracle/*.md") for p in ROOT.glob(names)
)


def floors(text: str) -> list[list[str]]:
    """Yields the rooms on each line of the picture, without group names and descriptions."""
    picture = re.search(r"```\n(shell .*?)```", text, re.DOTALL).group(1)
    return [re.split(r" {3,}", line[15:])[0].split() for line in picture.splitlines()]


def test_the_picture_shows_every_room_once_above_what_it_imports():
    found = floors((ROOT / "ARCHITECTURE.md").read_text())
    assert sorted(room for floor in found for room in floor) == sorted(ROOMS)
    height = {room: -line for line, floor in enumerate(found) for room in floor}
    arrows = {(room, target) for room, targets in ROOMS.items() for target in targets.split()}
    assert sorted(arrow for arrow in arrows if height[arrow[0]] <= height[arrow[1]]) == []


def test_architecture_names_files_that_exist():
    files = [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("[!.]*/**/*.py")]
    named = re.findall(r"`([\w/]+\.py)`", (ROOT / "ARCHITECTURE.md").read_text())
    assert named
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_the_first_release_of_the_changelog_is_that_of_the_package():
    releases = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert releases[:2] == ["Unreleased", estimator_train.__version__]
