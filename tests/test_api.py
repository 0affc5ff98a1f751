"""The public API since the last release: names, arguments, defaults, methods and base classes."""

from __future__ import annotations

import json
from pathlib import Path

import api_snapshot

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def unmentioned(old: dict[str, list[str]], new: dict[str, list[str]], news: str) -> list[str]:
    """Returns the names that differ and that the news do not mention."""
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return sorted(name for name in changed if name.rpartition(".")[2] not in news)


def test_the_changelog_mentions_each_change() -> None:
    released = json.loads(api_snapshot.RELEASED.read_text(encoding="utf-8"))
    text = CHANGELOG.read_text(encoding="utf-8")
    news = text.partition("\n## Unreleased\n")[2].partition("\n## ")[0]
    found = unmentioned(released, api_snapshot.describe_api(), news)
    assert found == [], f"Mention these changes of the public API under Unreleased: {found}"


def test_a_changed_default_a_new_name_and_a_removed_name_are_found() -> None:
    old = {"a.same": ["(x)"], "a.default": ["(x=1)"], "a.removed": ["(x)"], "a.told": ["()"]}
    new = {"a.same": ["(x)"], "a.default": ["(x=2)"], "a.added": ["(x)"], "a.told": ["(y)"]}
    assert unmentioned(old, new, "- `told` takes y") == ["a.added", "a.default", "a.removed"]
