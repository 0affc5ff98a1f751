"""The presets: the main job as a user starts it, and the other presets on small data."""

import os
import pty
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train
import input_fns

ROOT = str(Path(estimator_train.__file__).parents[1])


def start(directory, *arguments, **streams):
    """Starts `estimator-train` in a separate process."""
    environment = {**os.environ, "PYTHONPATH": ROOT}
    environment.pop("TF_CPP_MIN_LOG_LEVEL", None)
    return subprocess.Popen(
        [sys.executable, "-m", "estimator_train", *arguments],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        **streams,
    )


def run_on_terminal(directory, *arguments):
    """Returns the exit code, the standard output, and the standard error on a terminal."""
    ours, theirs = pty.openpty()
    shown = []

    def read():
        try:
            while chunk := os.read(ours, 65536):
                shown.append(chunk)
        except OSError:  # Linux says so when the other side is closed.
            pass

    process = start(directory, *arguments, stderr=theirs)
    os.close(theirs)
    reader = threading.Thread(target=read)
    reader.start()
    out, _ = process.communicate(timeout=300)
    reader.join()
    os.close(ours)
    return process.returncode, out, b"".join(shown).decode()


@pytest.fixture(scope="module")
def main_job(tmp_path_factory):
    """Runs the main job in a new process. Tests do not change its files."""
    directory = tmp_path_factory.mktemp("main_job")
    code, out, shown = run_on_terminal(directory, "train", "--preset", "digits")
    return directory, code, out, shown


@pytest.mark.long
def test_the_main_job_reaches_its_accuracy_and_prints_it(main_job):
    directory, code, out, shown = main_job
    assert code == 0, shown
    rows = dict(line.split(maxsplit=1) for line in out.splitlines())
    # The weights have no seed: eight runs gave 0.975 to 0.983, one of many 0.969.
    assert float(rows["accuracy"]) >= 0.95
    assert rows["global_step"] == "1797"
    assert rows["training"].startswith("1,797 steps in ")
    assert rows["training"].endswith(" images/s")
    assert rows["model_dir"] == "runs/digits"
    model_dir = directory / rows["model_dir"]
    assert (model_dir / "model.ckpt-1797.index").exists()
    assert list(model_dir.glob("events.out.tfevents.*"))
    assert list((model_dir / "eval").glob("events.out.tfevents.*"))
    served = tf.saved_model.load(directory / rows["saved_model"]).signatures["serving_default"]
    assert served(images=tf.zeros([2, 8, 8, 1]))["probabilities"].shape == (2, 10)


@pytest.mark.long
def test_main_job_shows_a_bar_and_nothing_else_on_a_terminal(tmp_path):
    job = ("train", "--preset", "digits", "--train_epochs=1", "--export_dir=")
    code, _, shown = run_on_terminal(tmp_path, *job)
    assert code == 0
    assert shown.count("\n") == 1, shown
    frames = shown.split("\r")
    assert "train:   0%|" in frames[1]
    assert re.search(r"45/45 \[00:\d\d<00:00, [\d,.]+ examples/s, loss ", frames[-2])


@pytest.mark.long
def test_main_job_continues_from_its_checkpoint_and_clean_starts_over(
    main_job, command, tmp_path, monkeypatch
):
    shutil.copytree(main_job[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    again = command("train", "--preset", "digits", "--train_epochs=1")
    assert again.err.startswith("continuing from runs/digits/model.ckpt-1797\nstep 1798/1842")
    assert again.rows["global_step"] == "1842"
    assert float(again.rows["accuracy"]) >= 0.95
    to_the_end = command("train", "--preset", "digits", "--max_train_steps=1850", "--export_dir=")
    assert to_the_end.err.startswith("continuing from runs/digits/model.ckpt-1842\nstep 1843/1850")
    nothing = command("train", "--preset", "digits", "--max_train_steps=1850", "--export_dir=")
    assert nothing.err.startswith("nothing to train: runs/digits/model.ckpt-1850 is at step 1850,")
    over = command("train", "--preset=digits", "--clean", "--max_train_steps=3", "--export_dir=")
    assert over.rows["global_step"] == "3"
    assert "saved_model" not in over.rows
    assert not os.path.exists("runs/digits/export")


@pytest.mark.long
def test_the_log_shows_mirrored_training_on_two_virtual_devices(tmp_path):
    process = start(
        tmp_path,
        *("train", "--preset=digits", "--num_virtual_cpus=2", "--batch_size=64"),
        *("--train_epochs=1", "--export_dir="),
        stderr=subprocess.PIPE,
    )
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    # 1,437 pictures in 45 batches of a replica's 32, two a step.
    first, *others, last = err.splitlines()
    assert first.startswith("step 1/22 (4%)  loss ")
    assert last.startswith("step 22/22 (100%)  loss ")
    # On a slow machine there is a line each ten seconds.
    assert all(re.match(r"step \d+/22 \(\d+%\)  loss ", line) for line in others), err
    assert "global_step  22\n" in out


@pytest.fixture
def pictures(tmp_path):
    """Writes JPEG files of four classes, with one colour for each class."""
    colours = {"CNV": (255, 0, 0), "DME": (0, 255, 0), "DRUSEN": (0, 0, 255), "NORMAL": (9, 9, 9)}
    for split, count in (("train", 3), ("test", 1)):
        for name, colour in colours.items():
            folder = tmp_path / "scans" / split / name
            folder.mkdir(parents=True)
            picture = np.full([40, 50, 3], colour, np.uint8)
            for index in range(count):
                (folder / f"{index}.jpeg").write_bytes(tf.io.encode_jpeg(picture).numpy())
    return tmp_path / "scans"


OCT = ("--preset=oct", "--data_dir=scans", "--image_size=32", "--batch_size=4")
# A smaller model, which is built in less time, for errors of the input.
SMALL = (*OCT, "--model=estimator_train.cli.job.models:digits")


def vgg_bias(layer, step):
    name = f"layer_with_weights-{layer}/bias/.ATTRIBUTES/VARIABLE_VALUE"
    return tf.train.load_variable(f"runs/oct/model.ckpt-{step}", name)


@pytest.mark.long
def test_oct_trains_vgg16_on_a_folder_of_jpeg_files(command, pictures):
    outcome = command("train", *OCT, "--train_epochs=1", "--export_dir=")
    assert outcome.code == 0, outcome.err
    assert outcome.rows["global_step"] == "3"
    assert outcome.rows["model_dir"] == "runs/oct"
    moved = {
        layer
        for layer in range(15)
        if not np.array_equal(*(vgg_bias(layer, step) for step in (0, 3)))
    }
    assert moved == {10, 11, 12, 13, 14}  # The last block's three convolutions, and the head.


@pytest.mark.parametrize(
    ("arguments", "spoil", "line"),
    tiers.every(
        6,
        [
            (
                (OCT[0], SMALL[-1]),
                None,
                "--data_dir=DIR is needed: a folder with train/CLASS/*.jpeg and test",
            ),
            (
                (*SMALL, "--file_pattern=*/*.png"),
                None,
                "No file matches file_pattern 'scans/train/*",
            ),
            (
                (*SMALL, "--labels=CNV,DME"),
                None,
                "file_pattern 'scans/train/*/*.jpeg' matches files in",
            ),
            (
                OCT,
                "train/CNV/1.jpeg",
                "scans/train/CNV/1.jpeg cannot be read as a picture: it is n",
            ),
            (
                (*OCT, "--image_size=8"),
                None,
                "--image_size=8: VGG16 needs pictures of 32 pixels or",
            ),
            ((*OCT, "--labels=CNV"), None, "--labels=CNV: at least two classes are needed."),
            (
                (*OCT, "--weights=w.h5"),
                None,
                "--weights=w.h5: this is neither 'imagenet' nor an existing file",
            ),
        ],
    ),
)
def test_bad_pictures_print_one_line_and_exit_with_code_2(
    command, pictures, arguments, spoil, line
):
    if spoil:
        (pictures / spoil).write_bytes(b"not a picture")
    outcome = command("train", *arguments)
    assert outcome.err.splitlines()[-1].startswith(f"estimator-train: error: {line}")
    assert outcome.code == 2


@pytest.fixture
def clothing(tmp_path):
    """Writes four IDX files in the format of Fashion-MNIST."""
    folder = tmp_path / "data"
    folder.mkdir()
    random = np.random.default_rng(0)
    for prefix, count in (("train", 64), ("t10k", 32)):
        images = random.integers(0, 256, [count, 28, 28], np.uint8)
        input_fns.write_idx(folder / f"{prefix}-images-idx3-ubyte.gz", images)
        input_fns.write_idx(folder / f"{prefix}-labels-idx1-ubyte", np.uint8(range(count)) % 10)
    return folder


CLOTHING = ("--preset=fashion_mnist", "--data_dir=data", "--batch_size=16", "--export_dir=")


@pytest.mark.long
def test_fashion_mnist_trains_on_idx_files(command, clothing):
    outcome = command("train", *CLOTHING, "--train_epochs=2")
    assert outcome.code == 0, outcome.err
    assert outcome.rows["global_step"] == "8"
    assert outcome.rows["model_dir"] == "runs/fashion_mnist"
    assert len(command("predict", *CLOTHING).out.splitlines()) == 32


@pytest.mark.parametrize(
    ("arguments", "spoil", "line"),
    [
        (CLOTHING[:1], None, "--data_dir=DIR is needed: a folder with the four IDX files,"),
        ((CLOTHING[0], "--data_dir=no"), None, "--data_dir=no: this folder does not exist."),
        (CLOTHING, b"", "IDX file data/train-images-idx3-ubyte.gz is cut short: found 0 bytes"),
        (CLOTHING, b"PNG-----", "data/train-images-idx3-ubyte.gz is not an IDX file: found mag"),
    ],
)
def test_bad_idx_files_print_one_line_and_exit_with_code_2(
    command, clothing, arguments, spoil, line
):
    if spoil is not None:
        (clothing / "train-images-idx3-ubyte.gz").write_bytes(spoil)
    outcome = command("train", *arguments)
    assert outcome.err.startswith(f"estimator-train: error: {line}")
    assert outcome.err.count("\n") == 1
    assert outcome.code == 2


@pytest.mark.parametrize(("name", "flat"), [("digits", 256), ("fashion_mnist", 576)])
def test_preset_models_equal_the_tutorials_models(name, flat):
    from estimator_train.cli.job import models

    model = getattr(models, name)(0.5)
    shapes = [tuple(weight.shape) for weight in model.weights if len(weight.shape) > 1]
    convolutions = [(3, 3, 1, 32), (3, 3, 32, 64), (3, 3, 64, 64)]
    assert shapes == [*convolutions, (flat, 64), (64, 10)]
    assert float(model.optimizer.learning_rate.numpy()) == 0.5
