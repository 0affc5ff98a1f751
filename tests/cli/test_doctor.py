"""`estimator-train doctor`: facts about the machine, and problems.

These tests cover `commands/doctor.py`.
"""

import sys

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.bootstrap import start_up
from estimator_train.engine.checkpoints.model_dir import lock_model_dir


@pytest.fixture
def doctor(command):
    """Returns a function that runs `doctor`."""

    def run(*arguments):
        return command("doctor", *arguments)

    return run


def test_a_machine_without_problems_passes_all_checks(doctor):
    outcome = doctor("--model_dir=new/run")
    lines = outcome.out.splitlines()
    rows = dict(line.split(maxsplit=1) for line in lines[:-1])
    assert (outcome.code, outcome.err) == (0, "")
    assert rows["estimator-train"] == est.__version__
    assert rows["tensorflow"] == tf.__version__
    assert rows["Python"] == f"{sys.version.split()[0]}, {sys.executable}"
    assert rows["devices"].startswith("CPU:0")
    # An earlier test of this process may have decided which Keras tf.keras is.
    keras_version = getattr(tf.keras, "__version__", "2")
    assert rows["TensorFlow"] == f"runs in sessions; tf.keras is Keras {keras_version}"
    assert rows["model_dir"].startswith("new/run is writable, ")
    assert rows["ports"] == "free from 15000 to 31999"
    assert rows["cluster"] == "none: this process trains alone"
    assert lines[-1] == "No problems found."


def test_each_problem_has_one_line(doctor, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("TF_CONFIG", '{"cluster": ')
    versions = {"tensorflow": "2.15.1", "tf-keras": "2.15.1"}
    monkeypatch.setattr(start_up, "find_version", versions.get)
    outcome = doctor("--model_dir=file/run")
    problems = [line for line in outcome.out.splitlines() if line.startswith("problem: ")]
    assert outcome.code == 1
    assert problems[0].startswith(
        "problem: estimator_train needs TensorFlow 2.16 to 2.21, and 2.15.1 is installed"
    )
    assert problems[1].startswith("problem: --model_dir=file/run cannot be written: ")
    assert "TF_CONFIG" in problems[2]
    assert len(problems) == 3


def test_a_model_dir_in_use_is_a_problem(doctor, tmp_path):
    with lock_model_dir(est.RunConfig(model_dir=str(tmp_path / "run"))):
        outcome = doctor("--model_dir=run")
    assert outcome.code == 1
    assert "is in use by another job (process " in outcome.out


@pytest.mark.parametrize(
    ("versions", "line"),
    [
        ({"tensorflow": "2.21.0", "tf-keras": "2.21.0"}, None),
        ({"tensorflow": "2.21.1", "tf-keras": "2.21.0"}, None),
        ({"tensorflow": "2.22.0.dev1", "tf-keras": "2.21.0.dev1"}, None),
        (
            {"tensorflow": "2.20.0", "tf-keras": "2.16.0"},
            "estimator_train needs the tf-keras of TensorFlow 2.20.0, and 2.16.0 is installed: "
            "pip install 'tf-keras==2.20.*'",
        ),
    ],
)
def test_unsupported_versions_give_one_warning(monkeypatch, versions, line):
    monkeypatch.setattr(start_up, "find_version", versions.get)
    assert start_up.find_version_problem() == line
    if line:
        with pytest.warns(RuntimeWarning) as warned:
            start_up.warn_of_versions()
        assert [str(one.message) for one in warned] == [line]


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr(start_up, "find_version", lambda name: None)
    assert start_up.find_version_problem() is None  # It is there, without metadata.
    monkeypatch.setattr(start_up.importlib.util, "find_spec", lambda name: None)
    assert start_up.find_version_problem().startswith(
        "estimator_train needs tensorflow, which is not installed: pip install 'tensorflow>=2.16"
    )
