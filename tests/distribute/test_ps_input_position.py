"""An asynchronous worker that was killed reads on where the last checkpoint found it."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf
from launched import launched, python
from ps_input_job import AFTER, BATCH, KILLED_AT, SAVE_STEPS, input_fn, run_of


def whole_input(pipeline: int, batches: int) -> list[int]:
    tf.random.set_seed(None)  # Jobs have none; an earlier test of this process may have set one.
    data = input_fn(2, pipeline).take(batches)
    return [int(number) for batch in data.as_numpy_iterator() for number in batch]


@pytest.mark.long
def test_a_killed_worker_continues_its_input_at_the_last_checkpoint(
    tmp_path: Path,
) -> None:
    model_dir = tmp_path / "model"
    done = launched(
        ["--workers=1", "--ps=1", "--max_restarts=2"], python("ps_input_job.py", model_dir)
    )
    assert done.code == 0, done.text[-3000:]
    first, second = (run_of(Path(f"{model_dir}-worker-{run}.ids")) for run in (1, 2))
    assert len(first) == KILLED_AT * BATCH
    assert len(second) >= AFTER * BATCH
    # It is later than the worker's start, and not later than where it was killed.
    expected = whole_input(1, 200)
    assert first == expected[: len(first)]
    places = [
        place
        for place in range(0, len(first) + 1, BATCH)
        if second == expected[place : place + len(second)]
    ]
    assert len(places) == 1
    assert len(first) - SAVE_STEPS * BATCH <= places[0] <= len(first)
    assert not Path(f"{model_dir}-chief-2.ids").exists()
    chief = run_of(Path(f"{model_dir}-chief-1.ids"))
    assert chief == whole_input(0, len(chief) // BATCH)
    # Each of the two has a position of the last checkpoint.
    last = tf.train.latest_checkpoint(str(model_dir))
    assert Path(f"{last}.data-i0000-of-input").exists()
    assert Path(f"{last}.input-i0001").exists()
