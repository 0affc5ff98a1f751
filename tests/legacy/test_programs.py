"""Programs in the styles of old codebases run without an edit.

Each program asserts its own results; the tests check the text that it prints after that.
"""

import pytest
from legacy_programs import PROGRAMS
from program_data import write_iris, write_mnist

# Program, arguments, and the end of its output.
RUNS = [
    ("mnist_layers.py", [], "(256, 784) float32"),
    ("iris/premade_estimator.py", ["--train_steps=150"], 'expected "Virginica"'),
    ("iris/custom_estimator.py", [], "Predicted 30"),
    (
        "census/census_main.py",
        ["-dd=data", "-md=model", "-ed=export", "-mt=wide", "-te=40", "-ebe=20", "-st=0.9"],
        "stopped after 20\n['census', 'estimator_train.py'] wide",
    ),
    (
        "deepfm.py",
        ["--data_dir=data", "--model_dir=model", "--servable_model_dir=export"],
        "auc True 75\nserved (2,)",
    ),
    ("gan_estimator.py", [], "gan done"),
    ("ner_fused.py", [], "f1 True stopped early True"),
    ("seq2seq_attention.py", [], "turned round"),
    ("triplets_and_friends.py", [], "purity True\nfriends done"),
    ("every_hook.py", [], "NaN seen\nevery hook True"),
    ("iris_contrib_learn.py", [], "fitted 30"),
    ("keras_in_model_fn.py", [], "moved 5"),
    ("learn_runner.py", [], "experiment done"),
    ("predictor_loop.py", [], "predicted by all"),
    ("text_classification_rnn.py", [], "Accuracy (rnn): "),
    ("timeseries_ar.py", [], "loss falls True\ncontinued (45, 1) True\nfollowed True\nserved"),
    ("timeseries_lstm.py", [], "learnt True (1, 200, 5)\ncontinued (30, 5) True\nserved"),
    (
        "timeseries_structural.py",
        [],
        "anomalies [40, 120] True\ncontinued (30, 1) True True\nwithin True 60",
    ),
    ("titanic_notebook.py", [], "served ['all_class_ids'"),
    ("warm_start_early_stop.py", [], "warm start keeps the loss 1"),
]


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Returns a home directory with the data sets that the programs read."""
    home = tmp_path_factory.mktemp("home")
    write_mnist(home / "MNIST-data", (5256, 64))
    write_iris(home / ".keras" / "datasets")
    return home


FIRST = {"iris/premade_estimator.py"}


@pytest.mark.parametrize(
    ("program", "arguments", "words"),
    [
        pytest.param(*run, id=run[0], marks=[] if run[0] in FIRST else [pytest.mark.long])
        for run in RUNS
    ],
)
def test_program_runs_without_an_edit(program, arguments, words, run, home, tmp_path):
    (tmp_path / "MNIST-data").symlink_to(home / "MNIST-data")
    done = run(program, *arguments, HOME=home, WORK_DIR=tmp_path / "work")
    assert words in done.stdout


@pytest.mark.long
def test_package_of_a_cloud_job_runs_by_its_name(run, tmp_path):
    files = [f"--train-files={tmp_path}/train.csv", f"--eval-files={tmp_path}/eval.csv"]
    job = ["-m", "trainer.task", *files, f"--job-dir={tmp_path}/job", "--export-format=CSV"]
    done = run(*job, cwd=PROGRAMS / "cloud")
    assert "Model dir job worker\npredicted ['predictions', 'rooms']" in done.stdout
