"""Bad input gives one line that names the flag or file and its value, code 2, and no traceback."""

import gzip
import struct

import pytest
import tiers

from estimator_train.cli.main import main

DIGITS = ["--preset=digits"]


def mine(model="good_model", input_fn="good_input"):
    return [f"--model=bad_job:{model}", f"--input_fn=bad_job:{input_fn}"]


# Wrong commands, and the required parts of their one line. {dir} has the files below.
TABLE = {
    "no command": ([], ["a command is needed: one of train, evaluate, predict"]),
    "unknown command": (["trian"], ["unknown command 'trian'. Did you mean train?"]),
    "unknown flag": (
        ["train", "--modeldir=x"],
        ["Unknown command line flag 'modeldir'. Did you mean: model_dir ?"],
    ),
    "last word of a flag": (
        ["train", "--label=y"],
        ["Unknown command line flag 'label'. Did you mean: input_label, labels ?"],
    ),
    "argument that is no flag": (["train", "digits"], ["unexpected argument 'digits'"]),
    "program without --": (
        ["launch", "--workers=1", "train.py"],
        ["unexpected argument 'train.py': a program comes after --, as in: launch -- train.py."],
    ),
    "a name that no directory can have": (
        ["evaluate", *DIGITS, f"--model_dir={'m' * 300}"],
        [f"{'m' * 300}/checkpoint; File name too long"],
    ),
    "a loop of links": (
        ["train", *DIGITS, "--model_dir={dir}/loop/m"],
        ["{dir}/loop/m/checkpoint; Too many levels of symbolic links"],
    ),
    "argument of a command without model_dir": (
        ["install-shim", "here"],
        ["unexpected argument 'here': install-shim takes only flags, which --help lists."],
    ),
    "flag without its value": (["evaluate", "--model_dir"], ["Missing value for flag --model_dir"]),
    "text for a number": (
        ["train", *DIGITS, "--batch_size=many"],
        ["flag --batch_size=many: invalid literal for int()"],
    ),
    "batch of 0": (
        ["train", *DIGITS, "--batch_size=0"],
        ["flag --batch_size=0: 0 is not an integer in the range [1, 2147483647]"],
    ),
    "negative batch": (
        ["train", *DIGITS, "--batch_size=-4"],
        ["flag --batch_size=-4: -4 is not an integer in the range [1, 2147483647]"],
    ),
    "batch that no memory holds": (
        ["train", *DIGITS, "--batch_size=1000000000000"],
        ["1000000000000 is not an integer in the range [1, 2147483647]"],
    ),
    "0 epochs": (
        ["train", *DIGITS, "--train_epochs=0"],
        ["flag --train_epochs=0: 0 is not a positive integer"],
    ),
    "negative rate": (
        ["train", *DIGITS, "--learning_rate=-1"],
        ["flag --learning_rate=-1: -1.0 is not a non-negative number"],
    ),
    "0 steps": (
        ["train", *DIGITS, "--max_train_steps=0"],
        ["flag --max_train_steps=0: 0 is not a positive integer"],
    ),
    "negative seed": (
        ["train", *DIGITS, "--seed=-1"],
        ["flag --seed=-1: -1 is not a non-negative integer"],
    ),
    "unknown preset": (
        ["train", "--preset=digit"],
        ["flag --preset=digit: value should be one of <digits|fashion_mnist|oct>"],
    ),
    "no model": (
        ["train"],
        ["--model=package.module:function is needed, or --preset with one of digits,"],
    ),
    "no flagfile": (
        ["train", "--flagfile={dir}/none.flags"],
        ["Unable to open flagfile", "'{dir}/none.flags'"],
    ),
    "wrong flag in a flagfile": (
        ["train", "--flagfile={dir}/wrong.flags"],
        ["Unknown command line flag 'bach_size'. Did you mean: batch_size ?"],
    ),
    "both ways of saving": (
        ["train", *DIGITS, "--save_checkpoints_steps=1", "--save_checkpoints_secs=1"],
        ["At most one of (save_checkpoints_steps, save_checkpoints_secs) must have a value"],
    ),
    "no steps between checkpoints": (
        ["train", *DIGITS, "--save_checkpoints_steps=0"],
        ["flag --save_checkpoints_steps=0: 0 is not a positive integer"],
    ),
    "negative number of checkpoints": (
        ["train", *DIGITS, "--keep_checkpoint_max=-1"],
        ["flag --keep_checkpoint_max=-1: -1 is not a non-negative integer"],
    ),
    "unknown strategy": (
        ["train", *DIGITS, "--distribution_strategy=mirored"],
        ["flag --distribution_strategy=mirored: value should be one of <off|one_device|mirrored|"],
    ),
    "more virtual CPUs than can be listed": (
        ["train", *DIGITS, "--num_virtual_cpus=9999999"],
        ["--num_virtual_cpus=9999999: 9999999 is not an integer in the range [1, 1024]"],
    ),
    "more GPUs than there are": (
        ["train", *DIGITS, "--num_gpus=9"],
        ["--num_gpus=9, but TensorFlow finds 0 on this machine"],
    ),
    "unknown exporter": (
        ["train", *DIGITS, "--eval", "--exporters=newest"],
        ["'newest' is not one of final, latest, best"],
    ),
    "no such best metric": (
        ["train", *DIGITS, "--keep_best=accuracy"],
        ["flag --keep_best=accuracy: must be METRIC:min:N or METRIC:max:N"],
    ),
    "bad time": (
        ["train", *DIGITS, "--max_time=soon"],
        ["flag --max_time=soon: must be a time, such as 90m"],
    ),
    "bad profile": (
        ["train", *DIGITS, "--profile=10"],
        ["must be START:STOP with START < STOP, such as 100:110, got '10'"],
    ),
    "profile backwards": (
        ["train", *DIGITS, "--profile=20:10"],
        ["must be START:STOP with START < STOP, such as 100:110, got '20:10'"],
    ),
    "loops of 0": (
        ["train", *DIGITS, "--steps_per_loop=0"],
        ["flag --steps_per_loop=0: must be 'auto' or a number above 0"],
    ),
    "unknown signal": (
        ["train", *DIGITS, "--preemption_signals=SIGFOO"],
        ["'SIGFOO' is not a signal: give names such as SIGTERM"],
    ),
    "signal nobody catches": (
        ["train", *DIGITS, "--preemption_signals=SIGKILL"],
        ["SIGKILL cannot be caught: give SIGTERM"],
    ),
    "deterministic without seed": (
        ["train", *DIGITS, "--deterministic"],
        ["--deterministic needs --seed, such as --seed=1"],
    ),
    "record nowhere": (
        ["train", *DIGITS, "--job_summary=/proc/no/x.json"],
        ["--job_summary=/proc/no/x.json: /proc/no is not a writable directory"],
    ),
    "record that is a directory": (
        ["train", *DIGITS, "--job_summary={dir}/empty"],
        ["--job_summary={dir}/empty is a directory: give the path of a file."],
    ),
    "model without function": (
        ["train", "--model=bad_job"],
        ["flag --model=bad_job: must be package.module:function"],
    ),
    "model not to be imported": (
        ["train", "--model=no_such_job:f", "--input_fn=bad_job:good_input"],
        ["--model=no_such_job:f: there is no module 'no_such_job'"],
    ),
    "model that is not there": (
        ["train", *mine("goodmodel")],
        ["has no function 'goodmodel'. Did you mean good_model?"],
    ),
    "model that is no function": (
        ["train", *mine("not_a_function")],
        ["module bad_job has no function 'not_a_function'"],
    ),
    "model without input": (
        ["train", "--model=bad_job:good_model"],
        ["--input_fn=package.module:function is needed, or --preset"],
    ),
    "model_fn without features": (
        ["train", *mine("no_features_model")],
        ["--model=bad_job:no_features_model requires the argument 'inputs'"],
    ),
    "model_fn with a strange argument": (
        ["train", *mine("strange_argument_model")],
        ["has following not expected args: ['colour']"],
    ),
    "Estimator of another directory": (
        ["train", *mine("estimator_elsewhere")],
        ["is not used: --model=bad_job:estimator_elsewhere returned", "model_dir=elsewhere. Give"],
    ),
    "Estimator with another seed": (
        ["train", *mine("estimator_without_config"), "--seed=1"],
        ["--seed=1 is not used: --model=", "with tf_random_seed=None. Give the function"],
    ),
    "Estimator without steps in loops": (
        ["train", *mine("estimator_without_config"), "--steps_per_loop=7"],
        ["--steps_per_loop=7 is not used: --model=", "with steps_per_loop=auto. Give"],
    ),
    "Estimator without the strategy": (
        ["train", *mine("estimator_without_config"), "--distribution_strategy=one_device"],
        ["--distribution_strategy=one_device is not used: ", "with train_distribute=None. Give"],
    ),
    "model_fn that raises": (["train", *mine("raising_model")], ["do not fit: 3 and 4"]),
    "model_fn without a spec": (
        ["train", *mine("no_spec_model")],
        ["model_fn should return an EstimatorSpec", "of type dict for mode 'train'"],
    ),
    "no loss": (["train", *mine("no_loss_model")], ["error: Missing loss."]),
    "no train_op": (["train", *mine("no_train_op_model")], ["error: Missing train_op."]),
    "loss of three numbers": (
        ["train", *mine("vector_loss_model")],
        ['Loss must be scalar, given: Tensor("mul:0", shape=(3,)'],
    ),
    "labels that model_fn does not take": (
        ["train", *mine("no_labels_model")],
        ["model_fn does not take labels, but input_fn returns labels"],
    ),
    "loss that is NaN": (
        ["train", *mine("nan_model")],
        ["NaN loss during training. It came with global step 1.", "not finite: w."],
    ),
    "model that is none": (
        ["train", *mine("model_that_is_none")],
        ["--model=bad_job:model_that_is_none returned None"],
    ),
    "Keras model not compiled": (
        ["train", *mine("uncompiled_keras_model")],
        ["The given keras model has not been compiled yet."],
    ),
    "feature of another name": (
        ["train", *mine("compiled_keras_model", "other_names_input")],
        ["Expected keys: {{'x'}} features keys: {{'z'}} Missed keys: {{'x'}}"],
    ),
    "Keras 3 model": (
        ["train", *mine("keras_3_model")],
        ["has not been compiled yet. Call model.compile(...) in model_builder"],
    ),
    "input that is nothing": (
        ["train", *mine(input_fn="no_input")],
        ["--input_fn=bad_job:no_input returned None: return a Dataset"],
    ),
    "input that is a generator": (
        ["train", *mine(input_fn="generator_input")],
        ["--input_fn=bad_job:generator_input returned generator: return a Dataset"],
    ),
    "input of three": (
        ["train", *mine(input_fn="triple_input")],
        ["as a len 2 tuple. It returned a tuple of length 3"],
    ),
    "input file missing": (
        ["train", *mine(input_fn="raising_input")],
        ["/no/such/rows.csv: No such file or directory"],
    ),
    "label of a table without one": (
        ["train", *mine(), "--input_label=y"],
        ["--input_label=y is not used: it belongs to --input=READER:PATH. Remove it, or give"],
    ),
    "columns of a table without one": (
        ["train", *mine(), "--input_columns=a,b"],
        ["--input_columns=a,b is not used: it belongs to --input=READER:PATH."],
    ),
    "evaluation without an end": (
        ["train", *mine(input_fn="endless_input"), "--max_train_steps=2"],
        [
            "--input_fn=bad_job:endless_input returned a dataset that repeats for ever for mode="
            "'eval': the evaluation would not end. Use --eval_steps=N",
        ],
    ),
    "row that a check refuses": (
        ["train", *mine(input_fn="number_that_breaks_input")],
        ["value above 0.5 in row 3"],
    ),
    "input of another shape": (
        ["train", *mine(input_fn="other_shape_input")],
        ["Dimensions must be equal, but are 2 and 3", "[8,2], [3,1]"],
    ),
    "words in a numeric feature": (
        ["train", *mine("text_model", "text_input")],
        ["features has strings where the model needs numbers: convert them in input_fn"],
    ),
    "word in a number's field": (
        ["train", *mine(input_fn="csv_with_a_word_input")],
        ["words.csv, line 3: field 2 is 'two', expected float"],
    ),
    "numbers and words in a column": (
        ["train", *mine("size_model", "mixed_column_input")],
        ["x['size'] has the value 1.0 (float) in row 0"],
    ),
    "no data_dir": (["train", "--preset=fashion_mnist"], ["--data_dir=DIR is needed"]),
    "data_dir that is not there": (
        ["train", "--preset=fashion_mnist", "--data_dir={dir}/none"],
        ["--data_dir={dir}/none: this folder does not exist"],
    ),
    "wrong magic number": (
        ["train", "--preset=fashion_mnist", "--data_dir={dir}/magic"],
        ["{dir}/magic/train-images-idx3-ubyte is not an IDX file: found magic number 0x000004d2"],
    ),
    "file cut short": (
        ["train", "--preset=fashion_mnist", "--data_dir={dir}/short"],
        ["train-images-idx3-ubyte is cut short: found 1579 bytes, expected 1584"],
    ),
    "no picture matches": (
        ["train", "--preset=oct", "--data_dir={dir}/empty"],
        ["No file matches file_pattern '{dir}/empty/train/*/*.jpeg'"],
    ),
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
        ["bad_records_file='{dir}/no/x.txt': there is no folder {dir}/no."],
    ),
    "nothing to evaluate": (
        ["evaluate", *DIGITS, "--model_dir={dir}/empty"],
        ["--model_dir={dir}/empty has no checkpoint: train the model first."],
    ),
    "no such checkpoint": (
        ["evaluate", *DIGITS, "--checkpoint_path={dir}/model.ckpt-7"],
        ["--checkpoint_path={dir}/model.ckpt-7: this checkpoint does not exist"],
    ),
    "nothing to predict with": (
        ["predict", *DIGITS, "--model_dir={dir}/empty"],
        ["--model_dir={dir}/empty has no checkpoint: train the model first."],
    ),
    "unknown format": (
        ["predict", *DIGITS, "--format=xml"],
        ["flag --format=xml: value should be one of <json|csv|parquet>"],
    ),
    "nothing to export": (
        ["export", *DIGITS, "--model_dir={dir}/empty", "--export_dir={dir}/out"],
        ["--model_dir={dir}/empty has no checkpoint: train the model first."],
    ),
    "launch nothing": (
        ["launch", "--workers=1"],
        ["a program is needed, such as: launch --workers=2 -- python train.py"],
    ),
    "report of nothing": (["report", "{dir}/empty"], ["{dir}/empty has no history of a training"]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("bad")
    for name in ("magic", "short", "empty"):
        (directory / name).mkdir()
    (directory / "loop").symlink_to(directory / "loop")
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


@pytest.mark.parametrize("kind", tiers.every(3, TABLE))
def test_bad_input_prints_one_line_and_exits_with_code_2(kind, files, tmp_path, monkeypatch, capfd):
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


def test_an_error_names_a_checkpoint_of_another_model(tmp_path, capfd):
    model_dir = f"--model_dir={tmp_path / 'm'}"
    assert main(["train", *mine(), model_dir]) == 0
    assert main(["train", *mine("wider_model"), model_dir]) == 2
    err = capfd.readouterr().err
    assert "model.ckpt-4 does not fit the model: 'w' has shape [3, 1] in it and [2, 1]" in err


def test_an_endless_evaluation_needs_a_number_of_steps(tmp_path, capfd):
    job = [*mine(input_fn="endless_input"), f"--model_dir={tmp_path / 'm'}"]
    assert main(["train", *job, "--max_train_steps=2"]) == 2
    assert not list((tmp_path / "m").glob("model.ckpt-*"))  # It ends before training.
    assert main(["train", *job, "--max_train_steps=2", "--eval_steps=3"]) == 0
    capfd.readouterr()
    for command in (["evaluate"], ["train", "--max_train_steps=2", "--dry_run"]):
        assert main([*command, *job]) == 2
        assert "the evaluation would not end. Use --eval_steps=N" in capfd.readouterr().err
    for output in ([], ["--format=parquet", f"--output={tmp_path / 'out'}"]):
        assert main(["predict", *job, *output]) == 2
        assert "for mode='infer': the predictions would not end." in capfd.readouterr().err


def test_an_empty_input_is_reported(tmp_path, capfd):
    assert main(["train", *mine(input_fn="empty_input"), f"--model_dir={tmp_path / 'm'}"]) == 0
    captured = capfd.readouterr()
    assert "no steps" in captured.err
    assert "global_step  0\n" in captured.out
