"""`estimator-train check` tells what of a codebase runs."""

import json
import subprocess

import pytest
from legacy_programs import COMMAND, environment

from estimator_train.legacy import symbols


def test_names_are_followed_through_imports_and_aliases():
    source = (
        "import tensorflow as tf\n"
        "import tensorflow.contrib.slim as slim\n"
        "from tensorflow.python.ops import array_ops as a\n"
        "layers = tf.contrib.layers\n"
        "layers.flatten(slim.conv2d(a.stack(1)))\n"
    )
    found = {(use.symbol, use.line) for use in symbols.uses(source)}
    assert found == {
        ("tensorflow.contrib.slim", 2),
        ("tensorflow.python.ops.array_ops", 3),
        ("tensorflow.contrib.layers", 4),
        ("tensorflow.contrib.layers.flatten", 5),
        ("tensorflow.contrib.slim.conv2d", 5),
        ("tensorflow.python.ops.array_ops.stack", 5),
    }


@pytest.mark.slow
def test_report_of_a_tree(tmp_path):
    (tmp_path / "old.py").write_text(
        "import tensorflow as tf\n"
        "x = tf.placeholder(tf.float32)\n"
        "tf.contrib.layers.flatten(x)\n"
        "tf.contrib.boosted_trees\n"
    )
    (tmp_path / "new.py").write_text("import tensorflow as tf\nprint(tf.function)\n")
    (tmp_path / "two.py").write_text("print 1\n")
    done = subprocess.run(
        [COMMAND[0], "check", str(tmp_path), "--json"],
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert done.returncode == 1, done.stderr
    new, old, two = json.loads(done.stdout)
    assert (new["generation"], old["generation"]) == ("tf2", "tf1")
    found = {s["name"]: (s["status"], s["lines"]) for s in old["symbols"]}
    assert found["tf.placeholder"] == ("as it is", [2])
    assert found["tf.contrib.layers.flatten"] == ("stand-in", [3])
    assert found["tf.contrib.boosted_trees"] == ("missing", [4])
    assert "line 1: this is Python 2" in two["problem"]
    assert new["command"].startswith("estimator-train run ")
