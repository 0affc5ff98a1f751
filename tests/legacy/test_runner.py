"""`estimator-train run` runs scripts as `python` does, and its errors say what to do.

These tests cover `cli/commands/old_programs.py`.
"""

import sys

import forked
import pytest
from legacy_programs import COMMAND, environment
from processes import run_process

import estimator_train.cli.main as cli


@pytest.mark.long
def test_modules_of_the_codebase_keep_their_names(run, tmp_path):
    for name, value in {
        "flags.py": 1,
        "input_fns/__init__.py": 2,
        "estimator_train.py": 3,
        "tf_contrib/__init__.py": 5,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"VALUE = {value}\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").write_text("VALUE = 4\n")
    program = (
        "import tensorflow, flags, input_fns, estimator_train, tests, tf_contrib\n"
        "from estimator_train import VALUE\n"
        "print(flags.VALUE, input_fns.VALUE, estimator_train.VALUE, tests.VALUE, VALUE)\n"
        "print(tf_contrib.VALUE, tensorflow.contrib.layers.flatten.__module__)\n"
    )
    done = run(program, switches=["--tf1"], python=[sys.executable])
    assert done.stdout == "1 2 3 4 3\n5 tf_contrib.layers.shaping\n"


def test_script_sees_its_own_name_arguments_and_exit_code(run, tmp_path):
    program = (
        "import os, sys\n"
        "print(__name__, os.path.basename(__file__), sys.argv[1:], sys.path[0])\n"
        "sys.exit(7)\n"
    )
    done = run(program, "--tf1", "-m", exit_code=7)
    assert done.stdout == f"__main__ script.py ['--tf1', '-m'] {tmp_path}\n"


RANDOM = """
import random
import numpy as np
import tensorflow as tf
x = tf.random_uniform([])
own = tf.Graph()
with own.as_default():
    tf.set_random_seed(5)
    y = tf.random_uniform([])
data = tf.data.Dataset.range(9).shuffle(9).batch(9).make_one_shot_iterator().get_next()
with tf.Session() as session:
    print(random.random(), np.random.rand(), session.run(x), session.run(data), end=' ')
with tf.Session(graph=own) as session:
    print('own', session.run(y))
"""


def test_seed_repeats_a_program_that_sets_none(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(RANDOM)

    def numbers(*switches):
        done = run_process(
            forked.python(COMMAND, "run", *switches, path), env=environment(TF_USE_LEGACY_KERAS=1)
        )
        return done.stdout.split("own")

    (first, own_first), (again, own_again), (other, own_other), (unseeded, own_unseeded) = (
        numbers(*switches) for switches in (["--seed=3"], ["--seed=3"], ["--seed=4"], [])
    )
    assert first == again
    assert len({first, other, unseeded}) == 3
    assert own_first == own_again == own_other == own_unseeded


def test_traceback_starts_in_the_script(run):
    done = run("def f():\n    return 1 / 0\nf()\n", exit_code=1)
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "script.py" in lines[1]
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert "runner.py" not in done.stderr


def test_module_by_name_with_relative_imports(tmp_path):
    package = tmp_path / "job" / "trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "data.py").write_text("SIZE = 3\n")
    (package / "task.py").write_text("from . import data\nprint(__package__, data.SIZE)\n")
    done = run_process(
        [sys.executable, COMMAND, "run", "-m", "trainer.task"],
        cwd=tmp_path / "job",
        env=environment(),
    )
    assert done.stdout == "trainer 3\n", done.stderr


def test_errors_of_removed_names_suggest_others_and_libraries_see_the_installed_names(run):
    program = (
        "import tensorflow as tf\n"
        "import numpy as np\n"
        "import tf_keras\n"
        "print(tf.__version__, tf.contrib.data.AUTOTUNE, [np.float32(1)], np.int)\n"
        "print(tf_keras.__dict__.get('tf', None), type(tf).__name__)\n"
        "import sys\n"
        "print(hasattr(sys.modules['tensorflow'], 'contrib'))\n"
        "for name in ('contrib.boosted_trees.learner', 'placeholderr'):\n"
        "    try:\n"
        "        eval('tf.' + name)\n"
        "    except AttributeError as error:\n"
        "        print(error)\n"
        "try:\n"
        "    from tensorflow.contrib.tensor_forest import Trees\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    lines = run(program).stdout.splitlines()
    assert lines[0] == "1.15.5 -1 [1.0] <class 'int'>"
    assert lines[2] == "False"
    assert "Use tf.estimator.BoostedTreesClassifier" in lines[3]
    assert lines[4].endswith("The nearest name is tf.placeholder.")
    assert lines[5].endswith("Use the package tensorflow-decision-forests.")


def test_missing_script_and_python_2_are_bad_input(tmp_path, capsys):
    assert cli.main(["run", str(tmp_path / "none.py")]) == 2
    assert "none.py: No such file or directory" in capsys.readouterr().err
    script = tmp_path / "old.py"
    script.write_text("x = 1\nprint x\n")
    assert cli.main(["run", str(script)]) == 2
    error = capsys.readouterr().err
    assert "line 2: this is Python 2" in error
    assert "2to3 -f print" in error


def test_run_needs_a_script_and_known_switches(capsys):
    assert cli.main(["run"]) == 2
    assert "a script is needed" in capsys.readouterr().err
    assert cli.main(["run", "--tf3", "x.py"]) == 2
    assert "unknown switch '--tf3'" in capsys.readouterr().err


def test_starting_imports_neither_tensorflow_nor_numpy(run):
    # The row `run_start` of the benchmarks measures the time.
    program = "import sys\nprint({'tensorflow', 'numpy', 'tf_keras', 'tqdm'} & set(sys.modules))\n"
    assert run(program, switches=(), python=[sys.executable]).stdout == "set()\n"


def test_packages_of_a_module_see_old_names(tmp_path):
    for folder in ("trainer", "trainer/inner"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text(
            "import tensorflow as tf\nprint(__name__, tf.contrib.layers.__name__)\n"
        )
    (tmp_path / "trainer" / "inner" / "task.py").write_text(
        "import tensorflow as tf\nprint(__name__, __package__, tf.VERSION)\n"
    )
    done = run_process(
        forked.python(COMMAND, "run", "-m", "trainer.inner.task"),
        cwd=tmp_path,
        env=environment(TF_USE_LEGACY_KERAS=1),
    )
    assert done.stdout.splitlines() == [
        "trainer tensorflow.contrib.layers",
        "trainer.inner tensorflow.contrib.layers",
        "__main__ trainer.inner 1.15.5",
    ], done.stderr


def test_module_in_nested_folders_without_init(tmp_path):
    folder = tmp_path / "job" / "bin" / "tools"
    folder.mkdir(parents=True)
    (folder / "task.py").write_text("print(__name__, __package__)\n")
    done = run_process(
        [sys.executable, COMMAND, "run", "-m", "job.bin.tools.task"],
        cwd=tmp_path,
        env=environment(),
    )
    assert done.stdout == "__main__ job.bin.tools\n", done.stderr
    done = run_process(
        [sys.executable, COMMAND, "run", "-m", "job.bin.tools.nothing"],
        exit_code=2,
        cwd=tmp_path,
        env=environment(),
    )
    assert "no runnable module named 'job.bin.tools.nothing'" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("level", ["0", "1"])
def test_lines_of_tensorflows_start_are_hidden_unless_the_level_is_0(run, level):
    program = "import tensorflow\nprint(1)\n"
    variables = {"TF_CPP_MIN_LOG_LEVEL": level, "TF_ENABLE_ONEDNN_OPTS": "1"}
    done = run(program, python=[sys.executable], **variables)
    known = ("oneDNN custom operations", "All log messages before absl", "cuda drivers")
    shown = [line for line in done.stderr.splitlines() if any(text in line for text in known)]
    assert bool(shown) == (level == "0")
