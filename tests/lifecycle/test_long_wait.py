"""A wait inside an uninterruptible call is logged, and ends the process after its limit."""

import re
import sys

import pytest
from processes import run_process

# The wait is over at once, when it was logged, or never. The program then outlives the limit.
WAITING = """
import logging, sys, threading, time
from estimator_train.lifecycle import limits

limit, until = float(sys.argv[1]) or None, sys.argv[2]
logged = threading.Event()
logging.getLogger("tensorflow").addFilter(lambda record: logged.set() or True)
logging.getLogger("tensorflow").addHandler(logging.StreamHandler())
limits.SAY_EVERY_SECS = 60 if until == "at once" else 0.2
with limits.limit_wait("for worker:1 to start", limit, "its_setting"):
    if until == "logged":
        assert logged.wait(60)
    elif until == "never":
        time.sleep(600)
time.sleep((limit or 0) + 1)
print("went on")
"""
TOLD = re.compile(r"Waiting for worker:1 to start, for \d s now")
GIVEN_UP = (
    "Ending with exit code 143: gave up waiting for worker:1 to start, after 2 s (its_setting)."
)


@pytest.mark.parametrize(
    ("limit", "until", "code", "told", "given_up"),
    [
        (2, "never", 143, True, True),
        (2, "logged", 0, True, False),  # The limit comes when the wait is over.
        (2, "at once", 0, False, False),
        (0, "logged", 0, True, False),  # No limit.
    ],
)
def test_a_wait_is_logged_and_limited(
    limit: int, until: str, code: int, told: bool, given_up: bool
) -> None:
    command = [sys.executable, "-c", WAITING, str(limit), until]
    done = run_process(command, exit_code=code)
    assert (bool(TOLD.search(done.stderr)), GIVEN_UP in done.stderr) == (told, given_up)
    assert ("went on" in done.stdout) == (not given_up)
