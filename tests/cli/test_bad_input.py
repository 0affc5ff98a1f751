"""Bad input gives one line that names the flag or file and its value, code 2, and no traceback."""

import gzip
import struct

import bad_job
import pytest

from estimator_train.cli.main import main

DIGITS = ["--preset=digits"]


def mine(model="good_model", input_fn="good_input"):
    return [f"--model=bad_job:{model}", f"--input_fn=bad_job:{input_fn}"]


# What is wrong: the command, and what its one line must hold. {dir} has the files below.
TABLE = {
    "no command": ([], ["a command is needed"]),
    "unknown command": (["trian"], ["trian", "Did you mean train?"]),
    "unknown flag": (["train", "--modeldir=x"], ["modeldir", "model_dir"]),
    "argument that is no flag": (["train", "digits"], ["unexpected argument 'digits'"]),
    "flag without its value": (["evaluate", "--model_dir"], ["model_dir"]),
    "text for a number": (["train", *DIGITS, "--batch_size=many"], ["batch_size", "many"]),
    "batch of 0": (["train", *DIGITS, "--batch_size=0"], ["batch_size", "0"]),
    "negative batch": (["train", *DIGITS, "--batch_size=-4"], ["batch_size", "-4"]),
    "0 epochs": (["train", *DIGITS, "--train_epochs=0"], ["train_epochs", "0"]),
    "negative rate": (["train", *DIGITS, "--learning_rate=-1"], ["learning_rate", "-1"]),
    "0 steps": (["train", *DIGITS, "--max_train_steps=0"], ["max_train_steps", "0"]),
    "negative seed": (["train", *DIGITS, "--seed=-1"], ["seed", "-1"]),
    "unknown preset": (["train", "--preset=digit"], ["digit", "digits"]),
    "no model": (["train"], ["--model", "--preset"]),
    "no flagfile": (["train", "--flagfile={dir}/none.flags"], ["none.flags"]),
    "wrong flag in a flagfile": (["train", "--flagfile={dir}/wrong.flags"], ["bach_size"]),
    "both ways of saving": (
        ["train", *DIGITS, "--save_checkpoints_steps=1", "--save_checkpoints_secs=1"],
        ["save_checkpoints_steps", "save_checkpoints_secs"],
    ),
    "no steps between checkpoints": (
        ["train", *DIGITS, "--save_checkpoints_steps=0"],
        ["save_checkpoints_steps", "0"],
    ),
    "negative number of checkpoints": (
        ["train", *DIGITS, "--keep_checkpoint_max=-1"],
        ["keep_checkpoint_max", "-1"],
    ),
    "unknown strategy": (
        ["train", *DIGITS, "--distribution_strategy=mirored"],
        ["distribution_strategy", "mirored", "mirrored"],
    ),
    "more GPUs than there are": (["train", *DIGITS, "--num_gpus=9"], ["9"]),
    "unknown exporter": (["train", *DIGITS, "--eval", "--exporters=newest"], ["newest", "latest"]),
    "no such best metric": (["train", *DIGITS, "--keep_best=accuracy"], ["keep_best", "accuracy"]),
    "bad time": (["train", *DIGITS, "--max_time=soon"], ["max_time", "soon"]),
    "bad profile": (["train", *DIGITS, "--profile=10"], ["profile", "10"]),
    "profile backwards": (["train", *DIGITS, "--profile=20:10"], ["profile", "20:10"]),
    "loops of 0": (["train", *DIGITS, "--steps_per_loop=0"], ["steps_per_loop", "0"]),
    "unknown signal": (["train", *DIGITS, "--preemption_signals=SIGFOO"], ["SIGFOO"]),
    "signal nobody catches": (["train", *DIGITS, "--preemption_signals=SIGKILL"], ["SIGKILL"]),
    "deterministic without seed": (["train", *DIGITS, "--deterministic"], ["--seed"]),
    "record nowhere": (["train", *DIGITS, "--job_summary=/proc/no/x.json"], ["/proc/no/x.json"]),
    "model without function": (["train", "--model=bad_job"], ["--model", "bad_job"]),
    "model not to be imported": (
        ["train", "--model=no_such_job:f", "--input_fn=bad_job:good_input"],
        ["no_such_job"],
    ),
    "model that is not there": (["train", *mine("goodmodel")], ["goodmodel", "good_model"]),
    "model that is no function": (["train", *mine("not_a_function")], ["not_a_function"]),
    "model without input": (["train", "--model=bad_job:good_model"], ["--input_fn"]),
    "model_fn without features": (["train", *mine("no_features_model")], ["inputs"]),
    "model_fn with a strange argument": (["train", *mine("strange_argument_model")], ["colour"]),
    "model_fn that raises": (["train", *mine("raising_model")], ["do not fit: 3 and 4"]),
    "model_fn without a spec": (["train", *mine("no_spec_model")], ["EstimatorSpec", "dict"]),
    "no loss": (["train", *mine("no_loss_model")], ["loss"]),
    "no train_op": (["train", *mine("no_train_op_model")], ["train_op"]),
    "loss of three numbers": (["train", *mine("vector_loss_model")], ["Loss must be scalar", "3"]),
    "labels that model_fn does not take": (["train", *mine("no_labels_model")], ["labels"]),
    "loss that is NaN": (["train", *mine("nan_model")], ["NaN loss", "step"]),
    "model that is none": (["train", *mine("model_that_is_none")], ["model_that_is_none"]),
    "Keras model not compiled": (["train", *mine("uncompiled_keras_model")], ["compile"]),
    "Keras 3 model": (["train", *mine("keras_3_model")], ["tf_keras"]),
    "input that is nothing": (["train", *mine(input_fn="no_input")], ["returned None"]),
    "input of three": (["train", *mine(input_fn="triple_input")], ["len 2 tuple", "3"]),
    "input file missing": (["train", *mine(input_fn="raising_input")], ["/no/such/rows.csv"]),
    "row that a check refuses": (
        ["train", *mine(input_fn="number_that_breaks_input")],
        ["value above 0.5 in row 3"],
    ),
    "input of another shape": (["train", *mine(input_fn="other_shape_input")], ["3", "2"]),
    "no data_dir": (["train", "--preset=fashion_mnist"], ["--data_dir"]),
    "data_dir that is not there": (
        ["train", "--preset=fashion_mnist", "--data_dir={dir}/none"],
        ["{dir}/none"],
    ),
    "wrong magic number": (
        ["train", "--preset=fashion_mnist", "--data_dir={dir}/magic"],
        ["{dir}/magic/train-images-idx3-ubyte", "magic"],
    ),
    "file cut short": (
        ["train", "--preset=fashion_mnist", "--data_dir={dir}/short"],
        ["{dir}/short/train-images-idx3-ubyte"],
    ),
    "no picture matches": (["train", "--preset=oct", "--data_dir={dir}/empty"], ["{dir}/empty"]),
    "picture that is none": (
        ["data", "--preset=oct", "--data_dir={dir}/pictures"],
        ["{dir}/pictures/train/CNV/1.jpeg cannot be read as a picture"],
    ),
    "folder that is no label": (
        ["data", "--preset=oct", "--data_dir={dir}/pictures", "--labels=DME,NORMAL"],
        ["not in labels: 'CNV' (with {dir}/pictures/train/CNV/1.jpeg)"],
    ),
    "cache that is none": (
        ["data", "--preset=oct", "--data_dir={dir}/pictures", "--input_cache={dir}/wrong.flags"],
        ["{dir}/wrong.flags is not a cache"],
    ),
    "list of bad records nowhere": (
        ["data", *DIGITS, "--bad_records_file={dir}/no/x.txt"],
        ["bad_records_file", "{dir}/no"],
    ),
    "nothing to evaluate": (
        ["evaluate", *DIGITS, "--model_dir={dir}/empty"],
        ["{dir}/empty", "checkpoint"],
    ),
    "no such checkpoint": (
        ["evaluate", *DIGITS, "--checkpoint_path={dir}/model.ckpt-7"],
        ["{dir}/model.ckpt-7"],
    ),
    "nothing to predict with": (
        ["predict", *DIGITS, "--model_dir={dir}/empty"],
        ["{dir}/empty", "checkpoint"],
    ),
    "unknown format": (["predict", *DIGITS, "--format=xml"], ["format", "xml", "csv"]),
    "nothing to export": (
        ["export", *DIGITS, "--model_dir={dir}/empty", "--export_dir={dir}/out"],
        ["{dir}/empty", "checkpoint"],
    ),
    "launch nothing": (["launch", "--workers=1"], ["--"]),
    "report of nothing": (["report", "{dir}/empty"], ["{dir}/empty"]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("bad")
    for name in ("magic", "short", "empty"):
        (directory / name).mkdir()
    (directory / "pictures" / "train" / "CNV").mkdir(parents=True)
    (directory / "pictures" / "train" / "CNV" / "1.jpeg").write_text("<html>404</html>")
    (directory / "wrong.flags").write_text("--preset=digits\n--bach_size=3\n")
    _write_idx(directory / "magic", magic=1234, rows=2)
    _write_idx(directory / "short", magic=2051, rows=2, missing=5)
    return directory


def _write_idx(directory, magic, rows, missing=0):
    """Writes Fashion-MNIST's four files, with a mistake in the pictures."""
    pictures = struct.pack(">IIII", magic, rows, 28, 28) + bytes(rows * 784 - missing)
    labels = struct.pack(">II", 2049, rows) + bytes(rows)
    for part in ("train", "t10k"):
        (directory / f"{part}-images-idx3-ubyte").write_bytes(pictures)
        with gzip.open(directory / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(labels)


@pytest.mark.parametrize("kind", TABLE)
def test_bad_input_is_one_line_and_code_2(kind, files, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    arguments, fragments = TABLE[kind]
    arguments = [argument.format(dir=files) for argument in arguments]
    if not any("_dir=" in argument for argument in arguments) and arguments[:1] == ["train"]:
        arguments.append(f"--model_dir={tmp_path / 'm'}")
    code = main(arguments)
    out, err = capfd.readouterr()
    said = [line for line in err.splitlines() if line.startswith("estimator-train: error:")]
    assert code == 2, err[-3000:]
    assert len(said) == 1, err[-3000:]
    assert "Traceback" not in err + out
    for fragment in fragments:
        assert fragment.format(dir=files) in said[0]


def test_checkpoint_of_another_model_is_named(tmp_path, capfd):
    model_dir = f"--model_dir={tmp_path / 'm'}"
    assert main(["train", *mine(), model_dir]) == 0
    assert main(["train", *mine("wider_model"), model_dir]) == 2
    err = capfd.readouterr().err
    assert "model.ckpt-4 does not fit the model: 'w' has shape [3, 1] in it and [2, 1]" in err


def test_an_empty_input_is_reported(tmp_path, capfd):
    assert main(["train", *mine(input_fn="empty_input"), f"--model_dir={tmp_path / 'm'}"]) in (0, 2)
    assert "no steps" in capfd.readouterr().err
    assert bad_job.not_a_function == 3
