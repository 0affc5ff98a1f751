"""A wait inside an uninterruptible call is logged, and ends the process after its limit."""

import sys

import pytest
from processes import run_process

WAITING = """
import sys, time
from estimator_train.lifecycle import limits
limits.SAY_EVERY_SECS = 0.2
limit = float(sys.argv[1]) or None
with limits.limit_wait("for worker:1 to start", limit, "its_setting"):
    time.sleep(float(sys.argv[2]))
time.sleep(1)
print("went on")
"""
TOLD = "Waiting for worker:1 to start, for 0 s now"
GIVEN_UP = (
    "Ending with exit code 143: gave up waiting for worker:1 to start, after 0.5 s (its_setting)."
)


@pytest.mark.parametrize(
    ("limit", "wait", "code", "told", "given_up"),
    [
        (0.5, 60, 143, True, True),
        (0.5, 0.3, 0, True, False),  # The limit comes when the wait is over.
        (0.5, 0, 0, False, False),
        (0, 0.5, 0, True, False),  # No limit.
    ],
)
def test_a_wait_is_logged_and_limited(
    limit: float, wait: float, code: int, told: bool, given_up: bool
) -> None:
    command = [sys.executable, "-c", WAITING, str(limit), str(wait)]
    done = run_process(command, exit_code=code)
    assert (TOLD in done.stderr, GIVEN_UP in done.stderr) == (told, given_up)
    assert ("went on" in done.stdout) == (not given_up)
