"""The documents agree with the code: the files and links they name."""

import re
from pathlib import Path

import pytest

import estimator_train

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    p
    for names in ("*.md", "docs/*.md", "tests/oracle/*.md", "tf_contrib/*.md")
    for p in ROOT.glob(names)
)


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
