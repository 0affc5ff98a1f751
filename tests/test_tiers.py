"""The sample of the second tier: the commit chooses it, not the day."""

import subprocess
from pathlib import Path

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
