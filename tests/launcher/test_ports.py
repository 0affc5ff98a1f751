"""Ports for servers that start later: two processes never get the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

from estimator_train.launcher import ports

FIND = """
import sys
from estimator_train.launcher import ports
ports.FIRST, ports.LAST = map(int, sys.argv[1:])
print(*ports.find_free_addresses(2))
print("reserved", flush=True)
sys.stdin.read()
"""


def test_a_port_that_a_process_has_found_is_not_found_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    addresses = ports.find_free_addresses(1)
    port = int(addresses[0].rpartition(":")[2])
    monkeypatch.setattr(ports, "FIRST", port)
    monkeypatch.setattr(ports, "LAST", port)
    with pytest.raises(OSError, match=f"Found no 1 free ports from {port} to {port}"):
        ports.find_free_addresses(1)


def test_another_process_finds_other_ports_until_this_one_ends() -> None:
    found = {int(one.rpartition(":")[2]) for one in ports.find_free_addresses(20)}
    first, last = min(found), min(found) + 2  # Of three ports, this process has one at least.
    with subprocess.Popen(
        [sys.executable, "-c", FIND, str(first), str(last)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        theirs = {int(one.rpartition(":")[2]) for one in other.stdout.readline().split()}
        other.communicate("")
    assert theirs.isdisjoint(found)


def test_a_process_keeps_a_limited_number_of_reservations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_MAX_RESERVED", 5)
    while len(ports._reserved) > 5:
        ports._reserved.popleft().close()
    for _ in range(4):
        ports.find_free_addresses(3)
    assert len(ports._reserved) == 5
