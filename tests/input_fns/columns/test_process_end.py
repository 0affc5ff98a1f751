"""A program ends while tf.data still reads a table or a CSV file.

Python ends threads that wait for it in its last moments. A session or an iterator that is deleted
then waits for such a thread without end.
"""

import sys

import pandas as pd
import pytest
import tiers
from processes import run_process

START = """
import sys
import tensorflow as tf
import input_fns

# Each block has one row, so that nearly always a thread of tf.data is in Python.
def read():
    dataset = input_fns.parquet(
        "rows.parquet", "y", batch_size=1, shuffle=True, buffer_size=1, prefetch_buffer_size=1
    )
    return dataset.prefetch(100_000)
"""
CSV = START.replace("input_fns.parquet", "input_fns.csv").replace("rows.parquet", "rows.csv")
CSV = CSV.replace(", shuffle=True, buffer_size=1", "").replace(
    "import input_fns\n",
    """import input_fns
from input_fns.records import text_blocks

sys.modules["input_fns.records.csv"]._MIN_BLOCKS_BYTES = 0
text_blocks._BLOCK_ROWS = 1
""",
)
SESSION = """
with tf.Graph().as_default():
    iterator = tf.compat.v1.data.make_initializable_iterator(read())
    batch = iterator.get_next()
    session = tf.compat.v1.Session()
    session.run(iterator.initializer)
    for _ in range(5):
        session.run(batch)
"""
ITERATOR = """
iterator = iter(read())
for _ in range(5):
    next(iterator)
"""
PROGRAMS = {
    "session": START + SESSION,
    "iterator": START + ITERATOR,
    "csv session": CSV + SESSION,
    "csv iterator": CSV + ITERATOR,
}


@pytest.mark.parametrize("program", tiers.first({"csv session"}, PROGRAMS))
def test_a_program_ends_that_still_reads(tmp_path, program):
    rows = pd.DataFrame({"x": range(100), "y": range(100)})
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=10)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "program.py").write_text(f"{PROGRAMS[program]}\nprint('the end')\n")
    for _ in range(1 if program.endswith("session") else 3):
        done = run_process([sys.executable, "program.py"], cwd=tmp_path, timeout=300)
        assert done.stdout.endswith("the end\n")
        assert "Traceback" not in done.stderr
