"""Each worker's part of the input.

These tests cover `tf_internals/strategies.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.inputs.sharding import select_shard

Policy = tf.data.experimental.AutoShardPolicy


def read(dataset: tf.data.Dataset, policy: Any, worker: int) -> list[Any]:
    """Returns the examples that one of two workers reads."""
    options = tf.data.Options()
    if policy is not None:
        options.experimental_distribute.auto_shard_policy = policy
    context = tf.distribute.InputContext(num_input_pipelines=2, input_pipeline_id=worker)
    part = select_shard(dataset.with_options(options), context)
    assert part.element_spec == dataset.element_spec
    return [np.asarray(element).tolist() for element in part]


@pytest.mark.parametrize("policy", [None, Policy.AUTO, Policy.OFF])
def test_an_input_is_not_sharded_by_default(policy: Any) -> None:
    batches = tf.data.Dataset.range(8).batch(2)
    assert read(batches, policy, 1) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_sharding_by_data_divides_the_elements() -> None:
    batches = tf.data.Dataset.range(8).batch(2)
    assert read(batches, Policy.DATA, 0) == [[0, 1], [4, 5]]
    assert read(batches, Policy.DATA, 1) == [[2, 3], [6, 7]]


def test_sharding_by_file_divides_the_files(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).write_text(f"{name}1\n{name}2\n")
    lines = tf.data.TextLineDataset([str(tmp_path / name) for name in "abcd"])
    assert read(lines, Policy.FILE, 0) == [b"a1", b"a2", b"c1", b"c2"]
    assert read(lines, Policy.FILE, 1) == [b"b1", b"b2", b"d1", b"d2"]
