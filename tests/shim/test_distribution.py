"""The shim: a distribution of an environment, which pip lists and removes.

These tests cover `cli/commands/old_programs.py`, `shim/__init__.py` and `shim/modules.py`.
"""

import shutil
import subprocess
import sys

import pytest

import estimator_train

PROGRAM = """
import tensorflow as tf
def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.keras.layers.Dense(1)(features))
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
estimator = tf.estimator.Estimator(model_fn, 'model')
estimator.train(lambda: tf.data.Dataset.from_tensors(tf.ones([2, 1])).repeat(3))
import tensorflow_estimator
print(type(estimator).__module__, tf.keras.__name__, tensorflow_estimator.__spec__.origin)
"""
UNAWARE = """
import sys
import tensorflow as tf
print(tf.keras.__name__.split('.')[0], [n for n in sys.modules if n.startswith('estimator_train')])
print(type(tf.__loader__).__name__, type(tf.__spec__.loader).__name__)
import without_package
"""
WITHOUT_PACKAGE = """
import sys
import tensorflow as tf
class Hider:
    def find_spec(self, name, path=None, target=None):
        if name == 'estimator_train':
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
sys.meta_path.insert(0, Hider())
try:
    tf.estimator.Estimator
except AttributeError as error:
    print(error)
import tensorflow_estimator
try:
    tensorflow_estimator.estimator
except AttributeError as error:
    print(error)
"""


def install(environment, *arguments, exit_code=0, **variables):
    done = environment(
        "-m", "estimator_train", "install-shim", *arguments, exit_code=exit_code, **variables
    )
    return (done.stdout if exit_code == 0 else done.stderr).splitlines()


def names(environment):
    return sorted(path.name for path in environment.packages.iterdir() if "shim" in path.name)


ABOUT = f"estimator_train_shim-{estimator_train.__version__}.dist-info"
INSTALLED = ["_estimator_train_shim.py", ABOUT, "estimator_train_shim.pth"]


def test_a_plain_program_trains_with_the_shim(environment, tmp_path):
    (tmp_path / "train.py").write_text(PROGRAM)
    assert install(environment) == [f"estimator-train-shim is installed in {environment.packages}."]
    line = environment("train.py").stdout.strip()
    assert line == "estimator_train.estimator.estimator tf_keras.api._v2.keras estimator_train"


@pytest.mark.long
def test_pip_lists_and_uninstalls_the_shim(environment):
    install(environment)
    install(environment)  # A second call replaces the shim.
    assert names(environment) == INSTALLED
    pip = [sys.executable, "-m", "pip", "--python", environment.packages.parents[2] / "bin/python"]
    listed = subprocess.run([*pip, "list"], capture_output=True, text=True, check=True).stdout
    assert f"estimator-train-shim {estimator_train.__version__}".split() in [
        line.split() for line in listed.splitlines()
    ]
    subprocess.run(
        [*pip, "uninstall", "-y", "estimator-train-shim"], check=True, capture_output=True
    )
    assert names(environment) == []


def test_remove_deletes_all_files_of_the_shim(environment):
    install(environment)
    environment("-c", "import _estimator_train_shim")
    removed = f"estimator-train-shim is removed from {environment.packages}."
    assert install(environment, "--remove") == [removed]
    assert names(environment) == []
    assert not list(environment.packages.rglob("*shim*"))
    assert install(environment, "--remove") == ["estimator-train-shim is not installed."]


def test_an_older_shim_is_replaced(environment):
    install(environment)
    (environment.packages / ABOUT).rename(environment.packages / ABOUT.replace("0.1", "0.0"))
    about = environment.packages / ABOUT.replace("0.1", "0.0")
    (about / "METADATA").write_text("Name: estimator-train-shim\nVersion: 0.0.0\n")
    environment(
        "-c",
        "from estimator_train.cli.commands.doctor import _find_shim as find\n"
        "assert 'the shim is of version 0.0.0 in' in find().problem",
    )
    install(environment)
    assert names(environment) == INSTALLED


def test_a_shim_in_another_folder_is_named(environment, tmp_path):
    install(environment)
    other = tmp_path / "other"
    other.mkdir()
    for name in INSTALLED:
        shutil.move(environment.packages / name, other / name)
    (line,) = install(environment, exit_code=2, PYTHONPATH=str(other))
    assert f"estimator-train-shim is already installed in {other}. Remove it first" in line
    assert names(environment) == []
    install(environment, "--remove", PYTHONPATH=str(other))
    assert list(other.iterdir()) == []


def test_a_read_only_environment_is_not_changed(environment):
    about = environment.packages / ABOUT
    about.write_text("")  # A file where the directory has to be: root may write everywhere.
    (line,) = install(environment, exit_code=2)
    assert f"{environment.packages} cannot be written: " in line
    assert names(environment) == [ABOUT]


def test_a_tensorflow_with_its_own_estimator_is_refused(environment):
    about = environment.packages / "tensorflow-2.15.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: tensorflow\nVersion: 2.15.1\n")
    *_, line = install(environment, exit_code=2)  # The import of the package warns first.
    assert "2.15.1 is installed, which has tf.estimator itself" in line
    assert names(environment) == []


@pytest.mark.long
def test_the_shim_ignores_programs_without_estimators_and_names_a_missing_package(
    environment, tmp_path
):
    install(environment)
    (tmp_path / "script.py").write_text(UNAWARE)
    (tmp_path / "without_package.py").write_text(WITHOUT_PACKAGE)
    *unaware, estimator, package = environment("script.py").stdout.splitlines()
    assert unaware == ["keras []", "SourceFileLoader SourceFileLoader"]
    end = (
        " needs the package estimator-train, which is not installed. Install it, or remove its "
        "shim: pip uninstall estimator-train-shim"
    )
    assert estimator == f"tensorflow.estimator{end}"
    assert package == f"tensorflow_estimator{end}"
