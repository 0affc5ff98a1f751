"""Commands whose paths are on a real S3 server.

These tests cover `remote/checks.py`.
"""

import io
import json
import sys

import forked
import numpy as np
import pytest
from processes import run_process

SCRIPT = """
import sys
import tensorflow as tf

columns = [tf.feature_column.numeric_column("x")]
estimator = tf.estimator.LinearRegressor(columns, model_dir=sys.argv[1])
def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]])).repeat()
estimator.train(input_fn, steps=3)
warm = tf.estimator.LinearRegressor(columns, sys.argv[1] + "2", warm_start_from=sys.argv[1])
warm.train(input_fn, steps=1)
print(sorted(tf.io.gfile.listdir(sys.argv[1] + "2"))[0])
"""


def run_command(*arguments, tmp_path, exit_code=0):
    command = forked.python("-m", "estimator_train", *arguments)
    return run_process(command, cwd=tmp_path, exit_code=exit_code, TF_CPP_MIN_LOG_LEVEL="3").stdout


def run_command_that_fails(*arguments, tmp_path):
    """Returns the line of the error."""
    command = forked.python("-m", "estimator_train", *arguments)
    done = run_process(command, cwd=tmp_path, exit_code=2, TF_CPP_MIN_LOG_LEVEL="3")
    (line,) = [line for line in done.stderr.splitlines() if "estimator-train: error: " in line]
    return line.partition("estimator-train: error: ")[2]


@pytest.fixture(scope="module")
def trained(store, tmp_path_factory):
    root = f"s3://{store.make_bucket()}"
    run_command("train", "--preset", "digits", f"--model_dir={root}/run", "--max_train_steps=20",
                tmp_path=tmp_path_factory.mktemp("disk"))  # fmt: skip
    return root


@pytest.mark.long
def test_doctor_writes_to_a_remote_model_dir(trained, tmp_path):
    printed = run_command("doctor", f"--model_dir={trained}/run", tmp_path=tmp_path)
    assert f"{trained}/run is writable" in printed
    printed = run_command("doctor", "--model_dir=s3://no-such-bucket/run", tmp_path=tmp_path,
                          exit_code=1)  # fmt: skip
    assert "problem: --model_dir 's3://no-such-bucket/run': bucket 'no-such-bucket' does" in printed


@pytest.mark.long
def test_report_reads_a_remote_run(trained, tmp_path):
    run_command("report", f"{trained}/run", f"--output_dir={tmp_path}", tmp_path=tmp_path)
    assert (tmp_path / "report.html").stat().st_size > 1000


@pytest.mark.long
def test_outputs_of_report_and_export_are_written_to_a_store(store, trained, tmp_path):
    bucket = trained.removeprefix("s3://")
    run_command("report", f"{trained}/run", f"--output_dir={trained}/plots", tmp_path=tmp_path)
    export = ("export", f"{trained}/run", "--preset=digits")
    run_command(*export, "--to=npz", f"--output={trained}/variables.npz", tmp_path=tmp_path)
    run_command(*export, "--to=tflite", f"--output={trained}/model", tmp_path=tmp_path)
    assert list(tmp_path.iterdir()) == []
    keys = {f"model/{name}" for name in ("encoder.json", "encoder.py", "model.tflite")}
    assert {"plots/report.html", "variables.npz", *keys} <= set(store.list_keys(bucket))
    with np.load(io.BytesIO(store.read(bucket, "variables.npz"))) as found:
        assert found["estimator_global_step/.ATTRIBUTES/VARIABLE_VALUE"] == 20
    for output in ("variables.npz", "model"):
        error = run_command_that_fails(
            *export, "--to=npz", f"--output={trained}/{output}", tmp_path=tmp_path
        )
        assert error.startswith(f"--output={trained}/{output} already exists")
    error = run_command_that_fails(
        *export, "--to=npz", "--output=s3://no-such-bucket/v.npz", tmp_path=tmp_path
    )
    assert error.startswith("output 's3://no-such-bucket': bucket 'no-such-bucket' does not exist")


@pytest.mark.long
def test_report_names_a_missing_bucket(store, tmp_path):
    error = run_command_that_fails("report", "s3://no-such-bucket/run", tmp_path=tmp_path)
    assert error.startswith("model_dir 's3://no-such-bucket/run': bucket 'no-such-bucket' does not")


@pytest.mark.long
@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("memory://out/rows", "output 'memory://out"),
        ("s3://no-such-bucket/out/rows", "bucket 'no-such-bucket' does not exist"),
    ],
)
@pytest.mark.parametrize("form", ["json", "parquet"])
def test_an_output_that_cannot_be_kept_is_an_error(trained, tmp_path, form, output, message):
    error = run_command_that_fails(
        "predict", "--preset", "digits", f"--model_dir={trained}/run", f"--format={form}",
        f"--output={output}", tmp_path=tmp_path,
    )  # fmt: skip
    assert message in error


@pytest.mark.long
@pytest.mark.parametrize("form", ["json", "parquet"])
def test_predictions_are_written_to_a_remote_path(store, trained, tmp_path, form):
    output = f"{trained}/{form}/out"
    arguments = ("predict", "--preset", "digits", f"--model_dir={trained}/run",
                 f"--format={form}", f"--output={output}")  # fmt: skip
    run_command(*arguments, tmp_path=tmp_path)
    bucket = trained.removeprefix("s3://")
    keys = store.list_keys(bucket, f"{form}/")
    if form == "parquet":
        import pyarrow.parquet as pq

        assert keys == ["parquet/out/shard-0-of-1-part-0.parquet"]
        assert pq.read_table(io.BytesIO(store.read(bucket, keys[0]))).num_rows > 100
        written = store.client.head_object(Bucket=bucket, Key=keys[0])["LastModified"]
        run_command(*arguments, tmp_path=tmp_path)  # Finds that the shard is complete.
        assert store.client.head_object(Bucket=bucket, Key=keys[0])["LastModified"] == written
    else:
        assert keys == ["json/out"]
        lines = store.read(bucket, keys[0]).splitlines()
        assert len(lines) > 100
        assert json.loads(lines[0])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_run_starts_an_old_script_with_remote_paths(trained, tmp_path):
    script = tmp_path / "old.py"
    script.write_text(SCRIPT)
    # In a new process: a fork has imported TensorFlow already, with Keras 3.
    command = [sys.executable, "-m", "estimator_train", "run", script, f"{trained}/old"]
    assert "checkpoint" in run_process(command, cwd=tmp_path).stdout.splitlines()[-1]
