"""Further uses of paths on a real S3 server, each in a new process: predictors, input, checks."""

import json
import sys

import pytest
from processes import run_process

pytestmark = pytest.mark.long

TRAIN = """
import sys
import tensorflow as tf
import estimator_train as est

columns = [tf.feature_column.numeric_column("x")]

def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]])).repeat()

estimator = est.LinearRegressor(columns, f"{sys.argv[1]}/run")
estimator.train(input_fn, steps=5)
spec = tf.feature_column.make_parse_example_spec(columns)
receiver_fn = est.export.build_parsing_serving_input_receiver_fn(spec)
print(estimator.export_saved_model(f"{sys.argv[1]}/exports", receiver_fn).decode())
"""
WARM_START = """
import sys
import tensorflow as tf
import estimator_train as est

columns = [tf.feature_column.numeric_column("x")]
settings = est.WarmStartSettings(tf.train.latest_checkpoint(f"{sys.argv[1]}/run"))
estimator = est.LinearRegressor(columns, warm_start_from=settings, optimizer="SGD")

def model_input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[0.0]]}, [[0.0]])).repeat()

estimator.train(model_input_fn, steps=1)
old = tf.train.load_variable(f"{sys.argv[1]}/run", "linear/linear_model/x/weights")
print(float(old[0, 0] - estimator.get_variable_value("linear/linear_model/x/weights")[0, 0]))
"""
PREDICT = """
import json
import sys
from estimator_train import predictor

loaded = predictor.from_saved_model(sys.argv[1], signature_def_key="predict")
import tensorflow as tf

feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0]))
example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
(value,) = loaded({"examples": [example.SerializeToString()]})["predictions"]
print(json.dumps([float(value[0])]))
"""
READ = """
import json
import sys
import input_fns
import tensorflow as tf

root = sys.argv[1]
records = input_fns.tfrecords(
    f"{root}/*.tfrecord.gz", {"x": tf.io.FixedLenFeature([], tf.float32)}, batch_size=3,
    num_epochs=1,
)
rows = input_fns.csv(f"{root}/rows.csv", "y", batch_size=2, num_epochs=1)
lines = input_fns.text_lines(
    f"{root}/lines.txt", f"{root}/words.txt", batch_size=2, num_epochs=1
)
features, labels = next(iter(rows))
print(json.dumps([
    next(iter(records))["x"].numpy().tolist(), features["x"].numpy().tolist(),
    labels.numpy().tolist(), next(iter(lines))["tokens"].numpy().tolist(),
]))
"""
FILES = {
    "rows.csv": b"x,y\n1,2\n3,4\n",
    "lines.txt": b"a b\nb a a\n",
    "words.txt": b"a\nb\n",
}


def run(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    return run_process(command, TF_CPP_MIN_LOG_LEVEL="3").stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def trained(store):
    root = f"s3://{store.make_bucket()}"
    return root, run(TRAIN, root)


def test_a_predictor_opens_a_saved_model_as_its_first_path(trained):
    (value,) = json.loads(run(PREDICT, trained[1]))
    assert value > 0.0


def test_settings_of_a_warm_start_name_a_checkpoint(trained):
    assert float(run(WARM_START, trained[0])) == 0.0


def test_input_fns_alone_read_records_rows_and_lines(store, bucket, tmp_path):
    import tensorflow as tf

    path = tmp_path / "records"
    with tf.io.TFRecordWriter(str(path), "GZIP") as writer:
        for x in range(3):
            feature = tf.train.Feature(float_list=tf.train.FloatList(value=[x]))
            example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
            writer.write(example.SerializeToString())
    store.client.upload_file(str(path), bucket, "0.tfrecord.gz")
    for name, content in FILES.items():
        store.client.put_object(Bucket=bucket, Key=name, Body=content)
    assert json.loads(run(READ, f"s3://{bucket}")) == [
        [0.0, 1.0, 2.0], [1, 3], [2, 4], [[1, 2, 0], [2, 1, 1]]
    ]  # fmt: skip


def test_flags_take_remote_paths(store, bucket, tmp_path):
    root = f"s3://{bucket}"
    command = [
        sys.executable, "-m", "estimator_train", "train", "--preset", "digits",
        f"--model_dir={root}/run", "--max_train_steps=20", f"--export_dir={root}/exports",
        f"--job_summary={root}/summary/job.json",
    ]  # fmt: skip
    printed = run_process(command, cwd=tmp_path).stdout
    assert f"model_dir    {root}/run" in printed
    assert [key for key in store.list_keys(bucket, "exports/") if key.endswith("/saved_model.pb")]
    assert json.loads(store.read(bucket, "summary/job.json"))["exit"]["code"] == 0
    assert list(tmp_path.iterdir()) == []


def test_check_reads_a_script_whose_paths_are_remote(bucket, store, tmp_path):
    script = tmp_path / "old.py"
    script.write_text(
        "import tensorflow as tf\n"
        f'tf.gfile.MakeDirs("s3://{bucket}/made")\n'
        "columns = [tf.feature_column.numeric_column('x')]\n"
        f'estimator = tf.estimator.LinearRegressor(columns, model_dir="s3://{bucket}/run")\n'
        "print(estimator.model_dir, tf.gfile.IsDirectory(estimator.model_dir + '/../made'))\n"
    )
    command = [sys.executable, "-m", "estimator_train", "check", script]
    assert "1 files, 0 names missing" in run_process(command, cwd=tmp_path).stdout
    assert store.list_keys(bucket) == []
