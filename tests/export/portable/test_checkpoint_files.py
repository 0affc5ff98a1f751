"""Checkpoints as safetensors and npz, read by packages that need no TensorFlow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from safetensors.numpy import load_file

from estimator_train.export.portable.checkpoint_files import write_variables

v1 = tf.compat.v1


def save(folder: Path, make_variables: Any) -> tuple[str, dict[str, np.ndarray]]:
    """Saves variables; returns the path of the checkpoint, and the values by name."""
    with tf.Graph().as_default(), v1.Session() as session:
        make_variables()
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver(sharded=True).save(session, str(folder / "model.ckpt"))
    reader = tf.train.load_checkpoint(path)
    return path, {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def make_variables() -> None:
    v1.get_variable("dense/kernel", [3, 5], initializer=v1.random_normal_initializer())
    v1.get_variable(
        "table", [7, 2], partitioner=v1.fixed_size_partitioner(3), initializer=v1.ones_initializer()
    )
    v1.get_variable("half", [3], tf.bfloat16, initializer=v1.constant_initializer(1.5))
    v1.get_variable("empty", [0, 4])
    v1.get_variable("flag", [], tf.bool, initializer=v1.ones_initializer())
    v1.get_variable("text", [], tf.string, initializer=v1.constant_initializer("words"))
    v1.get_variable("wide", [], tf.complex128, initializer=v1.zeros_initializer())
    v1.train.create_global_step()


def test_npz_has_all_numbers(tmp_path: Path) -> None:
    path, wanted = save(tmp_path, make_variables)
    assert write_variables(path, str(tmp_path / "out.npz"), "npz") == ["text"]
    with np.load(tmp_path / "out.npz") as found:
        assert set(found) == set(wanted) - {"text"}
        for name in found:
            # bfloat16 is float32 there.
            value = wanted[name].astype(np.float32) if name == "half" else wanted[name]
            assert found[name].dtype == value.dtype
            np.testing.assert_array_equal(found[name], value)
    assert wanted["table"].shape == (7, 2)


def test_safetensors_refuses_other_dtypes(tmp_path: Path) -> None:
    path, _ = save(tmp_path, make_variables)
    output = tmp_path / "out.safetensors"
    with pytest.raises(ValueError, match="Variable 'wide' is complex128, which safetensors does"):
        write_variables(path, str(output), "safetensors")
    assert not [name for name in os.listdir(tmp_path) if name.startswith("out")]


def test_safetensors_loads_by_name(tmp_path: Path) -> None:
    def make() -> None:
        v1.get_variable("a/kernel", [3, 5], initializer=v1.random_normal_initializer())
        v1.get_variable("half", [3], tf.bfloat16, initializer=v1.constant_initializer(1.5))
        v1.get_variable("table", [7, 2], partitioner=v1.fixed_size_partitioner(3))
        v1.get_variable("small", [3], tf.int8, initializer=v1.ones_initializer())
        v1.get_variable("empty", [0, 4])
        v1.train.create_global_step()

    path, wanted = save(tmp_path, make)
    assert write_variables(path, str(tmp_path / "out.safetensors"), "safetensors") == []
    found = load_file(tmp_path / "out.safetensors")
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert found[name].dtype.name == value.dtype.name
        np.testing.assert_array_equal(found[name].astype(float), value.astype(float))


@pytest.mark.long
def test_memory_is_that_of_one_variable(tmp_path: Path) -> None:
    def make() -> None:
        for i in range(12):
            v1.get_variable(f"v{i}", [50, 2**18], initializer=v1.ones_initializer())  # 50 MB each.

    path, _ = save(tmp_path, make)
    program = (
        "import re, sys\n"
        "from estimator_train.export.portable.checkpoint_files import write_variables\n"
        # getrusage would start at the memory of the process that starts this one.
        "read = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "before = read()\n"
        "write_variables(sys.argv[1], sys.argv[2], sys.argv[3])\n"
        "print(read() - before)"
    )
    for kind in ("safetensors", "npz"):
        command = [sys.executable, "-c", program, path, tmp_path / f"out.{kind}", kind]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert 0 < int(done.stdout) < 200 * 1024, "kilobytes"


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="format='h5' is not a format; choose one of"):
        write_variables("unread", str(tmp_path / "out.h5"), "h5")
