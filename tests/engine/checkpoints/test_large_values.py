"""Copies of the values of a checkpoint, and their write in a graph of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.checkpoints import large_values

tf1 = tf.compat.v1


@pytest.fixture(params=[(True, True), (True, False), (False, True), (False, False)])
def saver(request: Any) -> Iterator[tf1.train.Saver]:
    """A built Saver of a new default graph: with resources or not, sharded or not."""
    use_resource, sharded = request.param
    with tf.Graph().as_default():
        tf1.get_variable("plain", [3], use_resource=use_resource)
        halves = tf1.fixed_size_partitioner(2)
        tf1.get_variable("parts", [4, 2], use_resource=use_resource, partitioner=halves)
        tf1.get_variable("word", [], tf.string, lambda *_, **__: tf.constant("é"))
        saver = tf1.train.Saver(sharded=sharded)
        saver.build()
        yield saver


def _find_save(saver: tf1.train.Saver) -> tf.Tensor:
    graph = tf1.get_default_graph()
    return graph.as_graph_element(saver.saver_def.save_tensor_name)


def test_small_values_are_copied_without_new_operations(saver: tf1.train.Saver) -> None:
    graph = tf1.get_default_graph()
    values = large_values.find_written_values(_find_save(saver).op)
    before = graph.version
    copies = large_values.copy_values(values)
    assert graph.version == before
    numbers = [v for v in tf1.global_variables() if v.dtype.base_dtype == tf.float32]
    change = [tf1.assign_add(variable, tf.ones_like(variable)) for variable in numbers]
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        copied = session.run(copies)
        expected = [np.array(one) for one in copied]
        for _ in range(3):
            session.run(change)
        assert len(copied) == 4
        assert all(map(np.array_equal, copied, expected))


def test_separate_write_gives_the_files_of_the_saver(
    saver: tf1.train.Saver, tmp_path: Path
) -> None:
    save = _find_save(saver)
    values = large_values.find_written_values(save.op)
    write = large_values.SeparateWrite(save, values)
    assert write.is_possible
    for name in ("all", "own"):
        (tmp_path / name).mkdir()
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        saver.save(session, str(tmp_path / "all" / "model"), write_meta_graph=False)
        copied = dict(zip(values, session.run(values), strict=True))
        frozen = large_values.SubstituteSession(session, copied, write=write)
        session.run(tf1.variables_initializer(tf1.global_variables()))  # Other random values.
        saver.save(frozen, str(tmp_path / "own" / "model"), write_meta_graph=False)
    names = {path.name for path in (tmp_path / "all").iterdir()}
    assert names == {path.name for path in (tmp_path / "own").iterdir()}
    for name in names - {"checkpoint"}:
        assert (tmp_path / "own" / name).read_bytes() == (tmp_path / "all" / name).read_bytes()


def test_values_that_the_saver_computes_are_not_written_separately() -> None:
    with tf.Graph().as_default():
        variable = tf1.get_variable("v", [])
        saver = tf1.train.Saver({"v": variable})
        saver.build()
        save = _find_save(saver)
        assert not large_values.SeparateWrite(save, []).is_possible
