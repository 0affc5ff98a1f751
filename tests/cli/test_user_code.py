"""Commands with functions of the user."""

import json
import os

import pytest
import tensorflow as tf


def test_a_users_model_fn_is_trained_evaluated_and_exported(command, linear, tmp_path):
    trained = command("train", *linear, "--train_epochs=4", "--export_dir={model_dir}/exported")
    assert trained.code == 0, trained.err
    rows = trained.rows
    assert list(rows) == [
        "accuracy",
        "loss",
        "global_step",
        "training",
        "stopped",
        "model_dir",
        "saved_model",
    ]
    assert (rows["accuracy"], rows["global_step"], rows["model_dir"]) == ("1", "32", "run")
    assert rows["training"].startswith("32 steps in ")
    assert rows["training"].endswith(" examples/s")
    assert trained.err.splitlines()[0] == "step 1/32 (3%)  loss 0.6931"
    assert trained.err.splitlines()[-1].startswith("step 32/32 (100%)  loss 0.")
    assert tf.train.latest_checkpoint("run") == "run/model.ckpt-32"
    assert list(tmp_path.glob("run/events.out.tfevents.*"))

    served = tf.saved_model.load(rows["saved_model"]).signatures["serving_default"]
    labels = served(input=tf.eye(4)[:3])["label"]
    assert labels.numpy().tolist() == [0, 1, 0]

    evaluated = command("evaluate", *linear)
    assert evaluated.err == ""
    assert evaluated.rows == {name: rows[name] for name in ("accuracy", "loss", "global_step")}


@pytest.mark.long
def test_a_second_run_continues_and_clean_starts_over(command, linear):
    assert command("train", *linear).rows["global_step"] == "8"
    second = command("train", *linear)
    assert second.err.startswith("continuing from run/model.ckpt-8\nstep 9/16 (56%)")
    assert second.rows["global_step"] == "16"
    to_the_end = command("train", *linear, "--max_train_steps=28")
    assert to_the_end.err.startswith("continuing from run/model.ckpt-16\nstep 17/28 (60%)")
    assert to_the_end.rows["global_step"] == "28"
    nothing = command("train", *linear, "--max_train_steps=28")
    assert nothing.err == (
        "nothing to train: run/model.ckpt-28 is at step 28, and --max_train_steps=28. "
        "Increase --max_train_steps, or use --clean to start over.\n"
    )
    assert nothing.rows["global_step"] == "28"
    assert "training" not in nothing.rows
    assert command("train", *linear, "--clean").rows["global_step"] == "8"


def test_predictions_as_json_and_csv(command, linear):
    command("train", *linear)
    out = command("predict", *linear).out
    predictions = [json.loads(line) for line in out.splitlines()]
    assert len(predictions) == 64
    assert set(predictions[0]) == {"probabilities", "label"}
    assert [prediction["label"] for prediction in predictions[:4]] == [0, 1, 0, 1]

    written = command(
        "predict", *linear, "--format=csv", "--output=out.csv", "--predict_keys=probabilities"
    )
    assert (written.code, written.out) == (0, "")
    with open("out.csv") as file:
        lines = file.read().splitlines()
    assert lines[0] == "probabilities_0,probabilities_1"
    assert len(lines) == 65
    assert [float(cell) for cell in lines[1].split(",")] == predictions[0]["probabilities"]
    assert not [name for name in os.listdir() if "unfinished" in name]


KERAS = """
import tensorflow as tf
import tf_keras

def model(learning_rate, units=3):
    inputs = {name: tf_keras.Input((2,), name=name) for name in ("left", "right")}
    joined = tf_keras.layers.Concatenate()(list(inputs.values()))
    model = tf_keras.Model(inputs, tf_keras.layers.Dense(units, name="scores")(joined))
    model.compile(tf_keras.optimizers.SGD(learning_rate), "mse")
    return model

def data(mode, params):
    assert params["batch_size"] == 4
    features = {"left": tf.ones([8, 2]), "right": tf.zeros([8, 2])}
    dataset = tf.data.Dataset.from_tensor_slices((features, tf.ones([8, 3])))
    return dataset.batch(params["batch_size"])

def nothing(mode):
    return None

def endless():
    return tf.data.Dataset.from_tensors(({"left": tf.ones([1, 2])}, tf.ones([1, 3]))).repeat()

def picky(mode, image_shape):
    return None
"""


@pytest.mark.long
def test_a_users_keras_model_is_trained(command, tmp_path):
    (tmp_path / "mine.py").write_text(KERAS)
    outcome = command(
        "train",
        "--model=mine:model",
        "--input_fn=mine:data",
        "--batch_size=4",
        "--learning_rate=0.1",
        "--export_dir=exported",
        "--model_dir=keras_run",
    )
    assert outcome.code == 0, outcome.err
    assert outcome.rows["global_step"] == "2"
    served = tf.saved_model.load(outcome.rows["saved_model"]).signatures["serving_default"]
    scores = served(left=tf.ones([5, 2]), right=tf.ones([5, 2]))["scores"]
    assert scores.shape == (5, 3)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "--model=package.module:function is needed, or --preset with one of digits,"),
        (["--model=mine:model"], "--input_fn=package.module:function is needed, or"),
        (
            ["--model=nowhere.at_all:model"],
            "--model=nowhere.at_all:model: there is no module 'nowhere' in the working",
        ),
        (["--model=mine:modle"], "--model=mine:modle: module mine has no function 'modle'."),
        (
            ["--model=mine:model", "--input_fn=mine:picky"],
            "--input_fn=mine:picky requires the argument 'image_shape', which is not available",
        ),
        (
            ["--model=mine:model", "--input_fn=mine:nothing", "--model_dir=m"],
            "--input_fn=mine:nothing returned None: return a Dataset of (features, labels).",
        ),
        (
            ["--model=json:dumps", "--input_fn=mine:data"],
            "--model=json:dumps requires the argument",
        ),
        (
            ["--model=mine:model", "--input_fn=mine:data", "--model_dir=mine.py"],
            "mine.py is not a directory",
        ),
        (["--clean", "--model=mine:model", "--input_fn=mine:data"], "--clean needs --model_dir"),
        (
            ["--clean", "--model=mine:model", "--input_fn=mine:data", "--model_dir=."],
            "--clean would remove --model_dir=., which contains the working directory. Nothing is ",
        ),
        (
            ["--clean", "--model=mine:model", "--input_fn=mine:data", "--model_dir=other"],
            "--clean would remove --model_dir=other, but no training wrote to it",
        ),
        (
            ["--num_gpus=64", "--model=mine:model", "--input_fn=mine:data"],
            "--num_gpus=64, but TensorFlow finds ",
        ),
    ],
)
def test_bad_input_prints_one_line_and_exits_with_code_2(command, tmp_path, arguments, line):
    (tmp_path / "mine.py").write_text(KERAS)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("important")
    outcome = command("train", *arguments)
    assert outcome.err.startswith(f"estimator-train: error: {line}")
    assert outcome.err.count("\n") == 1
    assert outcome.code == 2
    assert (tmp_path / "other" / "thesis.txt").exists()


@pytest.mark.parametrize("name", ["evaluate", "predict", "export"])
def test_an_untrained_model_is_rejected(command, linear, name):
    outcome = command(name, *linear, "--export_dir=exported")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "estimator-train: error: --model_dir=run has no checkpoint: train the model first.\n"
    )
    missing = command(name, *linear, "--export_dir=exported", "--checkpoint_path=no.ckpt-1")
    assert missing.err == (
        "estimator-train: error: --checkpoint_path=no.ckpt-1: this checkpoint does not exist.\n"
    )


def test_a_nan_loss_ends_training_and_keeps_checkpoints(command, linear):
    command("train", *linear)
    outcome = command("train", *linear, "--learning_rate=1e39")  # Infinite as float32.
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith(
        "estimator-train: error: NaN loss during training."
    )
    assert os.path.exists("run/model.ckpt-8.index")
