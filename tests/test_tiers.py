"""The sample of the second tier: the commit chooses it, not the day."""

import subprocess
from pathlib import Path

import pytest
import tiers

CASES = list("abcdefg")


def test_parts_of_successive_numbers_are_all_cases(monkeypatch):
    found = []
    for number in range(3):
        monkeypatch.setenv(tiers.SAMPLE, str(number))
        found += tiers.of_commit(3, CASES)
    assert sorted(found) == CASES


def test_all_cases_can_be_chosen(monkeypatch):
    monkeypatch.setenv(tiers.SAMPLE, "all")
    assert tiers.of_commit(3, CASES) == CASES


def test_the_number_is_that_of_the_commit():
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    assert tiers.read_commit() == (0 if head.returncode else int(head.stdout[:8], 16))


def test_without_git_the_number_is_zero(monkeypatch, tmp_path):
    monkeypatch.setattr(tiers, "__file__", str(tmp_path / "tiers.py"))
    assert tiers.read_commit() == 0


def _names_of(cases):
    """Returns the cases of the first tier, and those of the second."""
    second = [case.values[0] for case in cases if hasattr(case, "marks")]
    return [case for case in cases if not hasattr(case, "marks")], second


def test_the_commit_chooses_among_the_cases_of_the_second_tier(monkeypatch):
    tables = [lambda: tiers.first({"b", "f"}, CASES, of=2), lambda: tiers.every(4, CASES, of=2)]
    for table, in_first in zip(tables, (["b", "f"], ["a", "e"]), strict=True):
        found = []
        for number in range(2):
            monkeypatch.setenv(tiers.SAMPLE, str(number))
            chosen, others = _names_of(table())
            assert chosen == in_first
            found += others
        assert sorted(found + in_first) == CASES
        monkeypatch.setenv(tiers.SAMPLE, "all")
        assert _names_of(table()) == (in_first, [one for one in CASES if one not in in_first])


def _rotate(request, monkeypatch, number, are_long=False):
    """Rotates twenty tests; returns names in the first tier, in the second, and left out."""
    monkeypatch.setenv(tiers.SAMPLE, str(number))
    items = [
        pytest.Function.from_parent(request.node.parent, name=f"test[{one}]", callobj=_rotate)
        for one in range(20)
    ]
    if are_long:
        tiers.move_to_second_tier(items)
    left_out = tiers.rotate(items)
    long = [item for item in items if item.get_closest_marker("long")]
    first = [item for item in items if item not in left_out and item not in long]
    return [[item.name for item in group] for group in (first, long, left_out)]


@pytest.fixture
def rotating(request, monkeypatch, tmp_path):
    """Lists this file as rotating."""
    monkeypatch.setenv(tiers.ROTATES, "1")
    path = tmp_path / "rotating.txt"
    path.write_text(f"{request.node.parent.nodeid}\n", encoding="utf-8")
    monkeypatch.setattr(tiers, "ROTATING", path)


@pytest.mark.usefixtures("rotating")
def test_each_rotating_test_has_its_turn_in_both_tiers(request, monkeypatch):
    groups = [_rotate(request, monkeypatch, number) for number in range(3)]
    for turn in zip(*groups, strict=True):
        assert sorted(sum(turn, [])) == sorted(f"test[{one}]" for one in range(20))
    assert all(len(group) > 2 for commit in groups for group in commit)


@pytest.mark.usefixtures("rotating")
def test_each_slow_test_is_left_out_at_one_of_five_commits(request, monkeypatch):
    groups = [_rotate(request, monkeypatch, number, are_long=True) for number in range(5)]
    left_out = [name for _, _, names in groups for name in names]
    assert sorted(left_out) == sorted(f"test[{one}]" for one in range(20))
    assert all(not first and len(long) > 10 for first, long, _ in groups)


@pytest.mark.usefixtures("rotating")
def test_a_test_that_is_named_is_never_left_out(request, monkeypatch):
    monkeypatch.setenv(tiers.ROTATES, "")
    assert [len(group) for group in _rotate(request, monkeypatch, 0)] == [20, 0, 0]
    monkeypatch.setenv(tiers.ROTATES, "1")
    assert [len(group) for group in _rotate(request, monkeypatch, "all")] == [20, 0, 0]


def test_rotating_files_exist():
    lines = tiers.ROTATING.read_text(encoding="utf-8").split()
    assert lines == sorted(set(lines))
    assert [line for line in lines if not (tiers.ROTATING.parent.parent / line).exists()] == []
