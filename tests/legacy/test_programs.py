"""Programs in the styles of old codebases run unedited, and find right what they assert themselves.

Each has `assert`s about what it computes; the words given here are what it prints after them.
"""

import pytest
from legacy_programs import PROGRAMS
from program_data import write_iris, write_mnist

# Program, its arguments, and what it prints at last.
RUNS = [
    ("mnist_layers.py", [], "(256, 784) float32"),
    ("iris/premade_estimator.py", ["--train_steps=150"], 'expected "Virginica"'),
    ("iris/custom_estimator.py", [], "Predicted 30"),
    (
        "census/census_main.py",
        ["-dd=data", "-md=model", "-ed=export", "-mt=wide", "-te=40", "-ebe=20", "-st=0.9"],
        "stopped after 20\n['census', 'estimator_train.py'] wide",
    ),
]


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A home directory with the data sets that the programs look for."""
    home = tmp_path_factory.mktemp("home")
    write_mnist(home / "MNIST-data", (5256, 64))
    write_iris(home / ".keras" / "datasets")
    return home


@pytest.mark.parametrize(("program", "arguments", "words"), RUNS, ids=[run[0] for run in RUNS])
def test_program_runs_as_it_was_written(program, arguments, words, run_fork, home, tmp_path):
    (tmp_path / "MNIST-data").symlink_to(home / "MNIST-data")
    stdout, _ = run_fork(
        str(PROGRAMS / program), *arguments, HOME=str(home), WORK_DIR=str(tmp_path / "work")
    )
    assert words in stdout
