"""Failures of launched tasks: where each happened, and the restarts after them."""

from __future__ import annotations

from pathlib import Path

import pytest

from estimator_train.launcher.process import FailureHistory, read_failure

TRACEBACK = """\
INFO:tensorflow:Saving checkpoints for 0 into /data/run/model.ckpt.
Traceback (most recent call last):
  File "train.py", line 5, in read
    open(path)
    ~~~~^^^^^^
OSError: lost

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 30, in <module>
    main()
  File "model.py", line 7, in main
    raise ValueError("bad: 3")
ValueError: bad: 3
{more}""".splitlines()


@pytest.mark.parametrize(
    ("code", "output", "text", "place"),
    [
        (
            1,
            TRACEBACK,
            "chief:0 failed with exit code 1: ValueError: bad: 3 (model.py:7).",
            "model.py:7 ValueError",
        ),
        (
            2,
            ["begins", "train.py:3: error: no such file.", " "],
            "chief:0 failed with exit code 2: train.py:3: error: no such file.",
            "train.py:3: error: no such file.",
        ),
        (7, [], "chief:0 failed with exit code 7.", "exit code 7"),
        (137, TRACEBACK, "chief:0 was ended by SIGKILL.", ""),
        (143, [], "chief:0 was ended by SIGTERM.", ""),
        (139, [], "chief:0 was ended by SIGSEGV.", "139"),
        (255, [], "chief:0 failed with exit code 255.", "exit code 255"),
    ],
)
def test_the_failing_line_and_its_error_are_found(
    code: int, output: list[str], text: str, place: str
) -> None:
    failure = read_failure("chief:0", code, output)
    assert (str(failure), failure.place) == (text, place)


def test_only_failures_of_one_task_at_one_place_since_the_last_checkpoint_count(
    tmp_path: Path,
) -> None:
    file = tmp_path / "checkpoint"
    file.touch()
    history = FailureHistory(file)
    here = read_failure("worker:0", 1, ["here"])
    others = [
        read_failure("worker:0", 1, ["there"]),
        read_failure("worker:1", 1, ["here"]),
        *[read_failure("worker:0", 143, ["here"])] * 3,
    ]
    for failure in (here, here, *others):
        history.add(failure)
        assert not history.is_repeated(failure)
    file.write_text("model.ckpt-10")
    for expected in (False, False, True):
        history.add(here)
        assert history.is_repeated(here) is expected


def test_delays_double_up_to_a_minute_and_are_reset_after_a_checkpoint(tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"
    file.touch()
    history = FailureHistory(file)
    assert [history.count_restart() for _ in range(9)] == [0, 1, 2, 4, 8, 16, 32, 60, 60]
    file.write_text("model.ckpt-10")
    history.add(read_failure("worker:0", 143, []))
    assert [history.count_restart() for _ in range(2)] == [0, 1]
