"""AutoGraph on replicas: it converts the functions that it did in the original, none of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import forked
import pytest
from launched import ROOT
from outcomes import recorded

FUNCTIONS_ON_THE_WAY = """
import json, traceback
import ask_autograph, ask_heads_replicas
import tensorflow as tf
import estimator_train as est

found = []

@tf.autograph.experimental.do_not_convert
def note_callers():
    stack = traceback.extract_stack()
    converted = [frame.name for frame in stack if "autograph_generated" in frame.filename]
    found.append([converted, [frame.name for frame in stack]])

def loss_fn(labels, logits):
    note_callers()
    return logits

ask_heads_replicas.two_devices()
column = ask_autograph.COLUMN
head = est.BinaryClassHead(loss_fn=loss_fn)
config = ask_autograph.config(est, "mirrored")
est.LinearEstimator(head, [column], config=config).train(ask_autograph.data, steps=1)
print(json.dumps(found))
"""


def answered(*arguments: object) -> Any:
    return forked.printed(*arguments, PYTHONPATH=f"{ROOT}:{ROOT / 'tests' / 'oracle'}")


@pytest.mark.long
def test_autograph_converts_user_functions_as_in_tf_estimator() -> None:
    assert answered(ROOT / "tests" / "oracle" / "ask_autograph.py") == recorded("autograph")


def test_autograph_converts_no_function_of_this_package(
    tmp_path: Path,
) -> None:
    program = tmp_path / "program.py"  # A file, since AutoGraph needs the source.
    program.write_text(FUNCTIONS_ON_THE_WAY)
    for converted, names in answered(program):
        assert {"call_model_fn", "create_estimator_spec", "call_loss_fn"} <= {*names}
        assert converted == ["tf__loss_fn"]
