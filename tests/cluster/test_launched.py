"""Mistakes of the user in launched processes."""

import sys

from processes import run_process

PROGRAM = """
import contextlib

from estimator_train.cluster import cluster_from_tf_config


@contextlib.contextmanager
def job():
    yield


with contextlib.ExitStack() as stack:
    stack.enter_context(job())
    stack.callback(cluster_from_tf_config, '{"cluster": 3}')
"""


def test_a_mistake_is_reported_at_its_line_of_the_program_not_of_the_standard_library(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(f"import estimator_train{PROGRAM}")
    done = run_process([sys.executable, program], exit_code=2, ESTIMATOR_TRAIN_LAUNCHED="1")
    assert done.stderr.startswith(f"{program}:12: error: "), done.stderr
    assert done.stderr.count("\n") == 1
