"""`estimator-train check --rewrite` writes copies that run under `python` with equal results."""

import json
import re
import shutil
import sys

import forked
import pytest
from legacy_programs import COMMAND, PROGRAMS, environment
from processes import run_process
from program_data import write_iris

FILES = {
    "train.py": """\
\"\"\"A script.\"\"\"
from __future__ import print_function
import os; os.environ["SEEN"] = "1"
import numpy as np, tensorflow as tf
from tensorflow.contrib import slim, layers as L
from tensorflow.keras.layers import Dense
from tensorflow.python.ops import rnn_cell
from collections import Mapping
import helpers

tf.flags.DEFINE_string("log_dir", "/logs", "Where logs are.")


def net(x, layers, tf_estimator=None):
    import tensorflow.contrib.rnn as rnn
    logits = L.fully_connected(slim.flatten(x), 3)
    layers.flatten(x)
    return tf.contrib.layers.l2_regularizer(
        0.1), rnn.BasicLSTMCell, rnn_cell.LSTMCell, tf.pack([logits])


flags = tf.app.flags
kind = np.int, isinstance({}, Mapping), tf.estimator.ModeKeys.TRAIN, flags.FLAGS
version = tf.__version__ + f"{tf.estimator.ModeKeys.EVAL}"
tf.contrib.boosted_trees.learn
""",
    "helpers.py": "import tensorflow as tf\nmake = tf.data.Dataset\n",
    "plain.py": "print('no TensorFlow')\n",
}
EDITED = """\
\"\"\"A script.\"\"\"
from __future__ import print_function
import os; os.environ["SEEN"] = "1"
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Read when TensorFlow is imported: tf.keras is tf-keras.
import tensorflow.compat.v1

tensorflow.compat.v1.disable_v2_behavior()
import estimator_train.compat.v1 as tf_estimator_
from tf_contrib import layers as contrib_layers
import numpy as np
import tensorflow.compat.v1 as tf
from tf_contrib import slim
from tf_contrib import layers as L
from tensorflow.compat.v1.keras.layers import Dense
from tensorflow.compat.v1.nn import rnn_cell
from collections.abc import Mapping
import helpers

tf.flags.DEFINE_string("log_dir", "/logs", "Where logs are.", allow_override=True)


def net(x, layers, tf_estimator=None):
    from tf_contrib import rnn
    logits = L.fully_connected(slim.flatten(x), 3)
    layers.flatten(x)
    return contrib_layers.l2_regularizer(
        0.1), rnn.BasicLSTMCell, rnn_cell.LSTMCell, tf.stack([logits])


flags = tf.app.flags
kind = int, isinstance({}, Mapping), tf_estimator_.ModeKeys.TRAIN, flags.FLAGS
version = '1.15.5' + f"{tf_estimator_.ModeKeys.EVAL}"
tf.contrib.boosted_trees.learn
"""


def check(*arguments, exit_code, python=()):
    command = [*python, COMMAND] if python else forked.python(COMMAND)
    done = run_process(
        [*command, "check", *map(str, arguments)], exit_code=exit_code, env=environment()
    )
    return done.stdout


@pytest.mark.long
def test_copies_import_objects_from_their_locations_today(tmp_path):
    (tmp_path / "code").mkdir()
    for name, text in FILES.items():
        (tmp_path / "code" / name).write_text(text)
    # Not in a fork: the locations of Keras names depend on the modules that are imported before.
    report = check(tmp_path / "code", "--rewrite", exit_code=1, python=[sys.executable])
    copies = tmp_path / "code_rewritten"
    assert (copies / "train.py").read_text() == EDITED
    assert (copies / "plain.py").read_text() == FILES["plain.py"]
    # A module is edited for the TensorFlow of the script that imports it.
    assert "disable_v2_behavior()" in (copies / "helpers.py").read_text()
    assert re.search(
        r"not replaced, line 25: tensorflow\.contrib\.boosted_trees.* Use tf\.estimator\.Boosted",
        report,
    )
    assert {p.name for p in (tmp_path / "code").iterdir()} == {*FILES}
    # An existing directory is not overwritten.
    check(tmp_path / "code", "--rewrite", exit_code=2)


NETWORK = """
import tensorflow as tf
from tensorflow.python.keras.engine import network


class Doubled(network.Network):
    def __init__(self):
        inputs = tf.keras.Input((2,))
        super().__init__(inputs=inputs, outputs=2 * inputs)


print(Doubled()(tf.ones([1, 3])).numpy().tolist())
"""


def test_models_in_copies_accept_other_shapes(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "model.py").write_text(NETWORK)
    check(tmp_path / "code", "--rewrite", exit_code=0)
    done = run_process(
        forked.python(tmp_path / "code_rewritten" / "model.py"),
        env=environment(TF_USE_LEGACY_KERAS=1),
    )
    assert done.stdout == "[[2.0, 2.0, 2.0]]\n", done.stderr[-3000:]


@pytest.mark.long
def test_copies_run_under_python_and_print_the_same_numbers(run, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    shutil.copytree(PROGRAMS / "iris", programs / "iris")
    shutil.copy(PROGRAMS / "strategies.py", programs)
    copies = tmp_path / "copies"
    found = json.loads(check(programs, "--json", f"--rewrite={copies}", exit_code=0))
    assert {file["rewritten"] for file in found} == {str(path) for path in copies.rglob("*.py")}
    write_iris(tmp_path / ".keras" / "datasets")
    for name, arguments in {
        "iris/premade_estimator.py": ["--train_steps=150"],
        "strategies.py": [],
    }.items():
        variables = {"HOME": str(tmp_path), "WORK_DIR": str(tmp_path / "run" / name)}
        under_runner = run(str(programs / name), *arguments, **variables).stdout
        variables["WORK_DIR"] = str(tmp_path / "plain" / name)
        done = run_process(
            forked.python(copies / name, *arguments),
            cwd=tmp_path,
            env=environment(TF_USE_LEGACY_KERAS=1, **variables),
        )
        assert numbers(done.stdout) == numbers(under_runner)


def numbers(text):
    """Returns the numbers in a text; NumPy 2 prints a scalar as np.float32(1.0)."""
    return re.findall(r"-?\d+\.\d+|\b\d+\b", re.sub(r"np\.\w+\(", "", text))
