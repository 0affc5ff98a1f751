"""Forked programs (`forked.py`): however their clients end, the server serves the others."""

from __future__ import annotations

import signal
import subprocess

import forked
from processes import run_process

WAITS_FOR_BOTH = """
import signal, time
seen = set()
for number in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, lambda number, frame: seen.add(number))
print("ready", flush=True)
while len(seen) < 2:
    time.sleep(0.01)
"""


def test_clients_that_are_killed_at_once_do_not_end_the_server() -> None:
    for number in range(20):
        client = subprocess.Popen(forked.python("-c", "import time; time.sleep(600)"))
        try:
            client.wait(number / 100)  # Before it connects, before its program is one, or later.
        except subprocess.TimeoutExpired:
            client.kill()
        assert client.wait() == -9
    assert run_process(forked.python("-c", "print('served')")).stdout == "served\n"


def test_a_program_gets_all_signals_of_its_client() -> None:
    with subprocess.Popen(
        forked.python("-c", WAITS_FOR_BOTH), stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
        client.send_signal(signal.SIGUSR1)
        client.send_signal(signal.SIGUSR2)
        assert client.wait(300) == 0
