"""Flags that other tests do not use, each tested by its effect on a command."""

import json
import os
import re
from functools import partial

import numpy as np
import tensorflow as tf
from absl import flags as absl_flags
from tf_keras import datasets

import estimator_train
import flags


def test_eval_steps_limits_the_batches_of_evaluations(command, linear, tmp_path):
    # The label is 1 for the second half of the rows alone.
    text = (tmp_path / "linear.py").read_text()
    (tmp_path / "linear.py").write_text(text.replace("np.arange(64) % 2)", "np.arange(64) // 32)"))
    command("train", *linear, "--max_train_steps=1", "--learning_rate=0")
    zeros = command("evaluate", *linear, "--eval_steps=4").rows["accuracy"]
    assert (zeros, command("evaluate", *linear).rows["accuracy"]) == ("1", "0.5")
    beside = command("train", *linear, "--max_train_steps=3", "--eval", "--eval_steps=4")
    assert beside.code == 0, beside.err
    lines = (tmp_path / "run" / "history.jsonl").read_text().splitlines()
    evaluations = [entry["metrics"] for entry in map(json.loads, lines) if "eval" in entry]
    # Of the first training and two commands, and that of the second training.
    assert [one["accuracy"] for one in evaluations] == [0.5, 1.0, 0.5, 1.0]


def test_data_batches_limits_the_batches_that_are_read(command, tmp_path):
    (tmp_path / "own.py").write_text(
        "import tensorflow as tf\ndef rows():\n    return tf.data.Dataset.range(60).batch(6)\n"
    )
    shown = command("data", "--input_fn=own:rows", "--measure_secs=0", "--data_batches=3")
    assert shown.code == 0, shown.err
    assert re.search(r"\b3 batches with 18 examples", shown.out)
    assert "0 to 17" in re.sub(" +", " ", shown.out)


def test_mixed_channels_accepts_grey_and_coloured_pictures(command, tmp_path):
    for split in ("train", "test"):
        for name, channels in (("CNV", 3), ("NORMAL", 1)):
            folder = tmp_path / "scans" / split / name
            folder.mkdir(parents=True)
            picture = np.full([40, 40, channels], 90, np.uint8)
            for number in range(3):
                (folder / f"{number}.jpeg").write_bytes(tf.io.encode_jpeg(picture).numpy())
    preset = ("--preset=oct", "--data_dir=scans", "--image_size=32", "--labels=CNV,NORMAL")
    look = partial(command, "data", *preset, "--batch_size=2", "--measure_secs=0")
    refused, read = look(), look("--mixed_channels")
    assert refused.code == 2, refused.out
    assert "grey" in refused.err
    assert read.code == 0, read.err
    assert re.search(r"^0 +6 .*\n1 +6 ", read.out, re.MULTILINE)


def test_download_gets_missing_files(command, tmp_path, monkeypatch):
    asked = []

    def load_data():
        asked.append("fashion_mnist")
        images, labels = np.zeros([32, 28, 28], np.uint8), np.uint8(range(32)) % 10
        return (images, labels), (images[:16], labels[:16])

    monkeypatch.setattr(datasets.fashion_mnist, "load_data", load_data)
    look = partial(
        command, "data", "--preset=fashion_mnist", "--data_dir=clothes", "--measure_secs=0"
    )
    (tmp_path / "clothes").mkdir()
    assert look().code == 2
    assert asked == []
    shown = look("--download", "--batch_size=8", "--data_batches=4")
    assert shown.code == 0, shown.err
    assert "4 batches with 32 examples" in shown.out
    assert asked == ["fashion_mnist"]


def test_flags_of_batch_jobs_set_the_config():
    def config(*arguments):
        values = absl_flags.FlagValues()
        flags.define_base_flags(values)
        flags.define_batch_job_flags(values)
        values(["program", *arguments])
        return flags.make_run_config(estimator_train.RunConfig, values)

    given = config("--step_timeout_secs=1.5", "--allow_shared_model_dir")
    assert (given.step_timeout_secs, given.allow_shared_model_dir) == (1.5, True)
    assert (config().step_timeout_secs, config().allow_shared_model_dir) == (None, False)


def test_each_command_writes_its_job_summary(command, linear):
    def read(*arguments):
        outcome = command(*arguments, *linear, "--job_summary=record.json")
        assert outcome.code == 0, outcome.err
        with open("record.json") as file:
            record = json.load(file)
        os.remove("record.json")
        assert record["exit"] == {"code": 0, "cause": "done"}
        return record

    trained = read("train", "--max_train_steps=4")
    evaluated = read("evaluate")
    assert evaluated["metrics"] == trained["metrics"]
    assert evaluated["checkpoint"] == trained["checkpoint"]
    read("predict", "--output=predictions.json")
    read("export", "--export_dir=served")
    read("data", "--measure_secs=0")
