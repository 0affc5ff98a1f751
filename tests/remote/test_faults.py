"""Faults of a store: a proxy before a real S3 server drops, delays and refuses requests."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf
from processes import run_process

from estimator_train import remote
from estimator_train.engine.checkpoints.reading import retry_on_deleted_checkpoint
from estimator_train.remote import faults

# Prints what each operation returns, or its error.
OPERATIONS = """
import sys
import tensorflow as tf
from estimator_train import remote

remote.register("s3")
root = sys.argv[1]

def write():
    with tf.io.gfile.GFile(f"{root}/file", "w") as file:
        file.write("hello" * 10000)

def read():
    with tf.io.gfile.GFile(f"{root}/file") as file:
        return len(file.read())

for action in (write, read, lambda: tf.io.gfile.listdir(root)):
    try:
        print(action())
    except tf.errors.OpError as error:
        print(type(error).__name__, error.message)
"""


def run_operations(proxy, bucket):
    command = [sys.executable, "-c", OPERATIONS, f"s3://{bucket}/dir"]
    return run_process(command, S3_ENDPOINT=proxy.endpoint).stdout.splitlines()


@pytest.mark.long
@pytest.mark.parametrize("fault", ["drop", "cut", 503, 500, 1.0])
def test_transient_faults_are_retried(proxy, bucket, fault):
    # Two of three requests fail; slow answers are all slow.
    seen = []

    def choose(method, path):
        seen.append(method)
        is_hit = len(seen) % 3 or isinstance(fault, float)
        return fault if is_hit and (fault != "cut" or method == "GET") else None

    proxy.rule = choose
    assert run_operations(proxy, bucket) == ["None", "50000", "['file']"]
    assert len(seen) >= 3


@pytest.mark.long
def test_a_refused_request_is_an_error_of_one_line_at_once(proxy, bucket):
    proxy.rule = lambda method, path: 403
    lines = run_operations(proxy, bucket)
    assert lines[0] == f"PermissionDeniedError s3://{bucket}/dir/file: PermissionError: refused"
    assert len(proxy.requests) < 10


def train(proxy, bucket, tmp_path, exit_code, steps=100):
    command = [
        sys.executable, "-m", "estimator_train", "train", "--preset", "digits",
        f"--model_dir=s3://{bucket}/run", f"--max_train_steps={steps}",
        "--save_checkpoints_steps=50",
    ]  # fmt: skip
    variables = {"S3_ENDPOINT": proxy.endpoint, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = run_process(command, cwd=tmp_path, exit_code=exit_code, **variables)
    return [line for line in done.stderr.splitlines() if "estimator-train: error: " in line]


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (("ExpiredToken", 400), "usual reasons are expired credentials, a wrong region and"),
        (("AccessDenied", 403), "PermissionError: Forbidden"),
        (("PermanentRedirect", 301), "a bucket of another region: set AWS_REGION"),
        (("InvalidObjectState", 403), "PermissionError: Forbidden"),
        (None, "The specified bucket does not exist"),
    ],
)
def test_a_permanent_fault_ends_a_job_with_one_line_and_code_2(
    proxy, bucket, tmp_path, fault, text
):
    proxy.rule = lambda method, path: fault
    (line,) = train(proxy, bucket if fault else "no-such-bucket", tmp_path, exit_code=2)
    assert text in line
    # botocore itself follows a redirection until its stack is full.
    assert len([path for _, path, _ in proxy.requests if "/run" in path]) < 20


@pytest.mark.long
def test_a_redirection_without_a_region_is_permanent(proxy, bucket):
    import boto3  # The first tier does not install it.
    import botocore.exceptions

    proxy.rule = lambda method, path: ("PermanentRedirect", 301)
    client = boto3.client("s3", endpoint_url=f"http://{proxy.endpoint}")
    with pytest.raises((RecursionError, botocore.exceptions.HTTPClientError)) as caught:
        client.list_objects_v2(Bucket=bucket)
    # botocore wraps the error of the stack if it occurs while a request is sent.
    for error in (caught.value, botocore.exceptions.HTTPClientError(error=caught.value)):
        assert not faults.is_transient(error)
        assert faults.get_code(error) == faults.INVALID_ARGUMENT
        assert "set AWS_REGION to that of the bucket" in faults.describe(error)


@pytest.mark.long
def test_a_store_that_refuses_a_checkpoint_ends_the_job_with_143(store, proxy, bucket, tmp_path):
    def refuse_checkpoint(method, path):
        return 503 if method in ("PUT", "POST") and "model.ckpt-50" in path else None

    proxy.rule = refuse_checkpoint
    (line,) = train(proxy, bucket, tmp_path, exit_code=143)
    assert "The checkpoint of step 50 could not be written to s3://" in line
    assert "model.ckpt-0.index" in "".join(store.list_keys(bucket, "run/"))
    assert b'model_checkpoint_path: "model.ckpt-0"' in store.read(bucket, "run/checkpoint")
    attempts = [time for method, path, time in proxy.requests if "model.ckpt-50" in path]
    assert len(attempts) > 4
    assert max(attempts) - min(attempts) > 3  # With pauses.
    proxy.rule = lambda method, path: None
    train(proxy, bucket, tmp_path, exit_code=0)
    assert "run/model.ckpt-100.index" in store.list_keys(bucket, "run/")


@pytest.mark.long
def test_an_object_that_is_replaced_while_it_is_read_is_an_error(store, bucket):
    remote.register("s3")
    store.client.put_object(Bucket=bucket, Key="data", Body=b"a" * (40 << 20))
    with tf.io.gfile.GFile(f"s3://{bucket}/data", "rb") as file:
        assert file.read(1) == b"a"
        store.client.put_object(Bucket=bucket, Key="data", Body=b"b" * (40 << 20))
        with pytest.raises(tf.errors.FailedPreconditionError, match="was replaced while it was"):
            file.read()


@pytest.mark.long
def test_an_object_that_is_written_again_as_it_was_is_not_replaced(store, bucket):
    remote.register("s3")
    content = b"a" * (9 << 20)
    store.client.put_object(Bucket=bucket, Key="data", Body=content)
    with tf.io.gfile.GFile(f"s3://{bucket}/data", "rb") as file:
        assert file.read(1) == b"a"
        written = store.client.head_object(Bucket=bucket, Key="data")["LastModified"]
        while store.client.head_object(Bucket=bucket, Key="data")["LastModified"] == written:
            store.client.put_object(Bucket=bucket, Key="data", Body=content)
        assert file.read() == content[1:]
        assert file.read() == b""


@pytest.mark.long
def test_a_checkpoint_that_is_replaced_while_it_is_read_is_read_again(store, bucket):
    remote.register("s3")
    directory = f"s3://{bucket}/run"

    def write(value):
        # `v` is larger than what is read ahead.
        variables = {"a": tf.Variable(value), "v": tf.Variable(tf.fill([12 << 20], value))}
        checkpoint = tf.train.Checkpoint(**variables)
        return checkpoint.write(f"{directory}/model.ckpt-1")

    tf.compat.v1.train.update_checkpoint_state(directory, write(1.0))
    seen = []

    def read(path):
        reader = tf.train.load_checkpoint(path)
        reader.get_tensor("a/.ATTRIBUTES/VARIABLE_VALUE")  # Opens the file.
        if not seen:
            write(2.0)
        seen.append(path)
        return float(reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")[-1])

    assert retry_on_deleted_checkpoint(directory, read) == 2.0
    assert seen == [f"{directory}/model.ckpt-1"] * 2


@pytest.fixture(scope="module")
def tls_store(tmp_path_factory):
    import object_store  # It needs boto3, which the first tier does not install.

    certificate = tmp_path_factory.mktemp("tls") / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
               "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
               "-keyout", certificate, "-out", f"{certificate}.crt"]  # fmt: skip
    run_process(command)
    with certificate.open("a") as file:
        file.write(Path(f"{certificate}.crt").read_text())
    with object_store.serve_objects(certificate) as running:
        yield running, certificate


@pytest.mark.long
def test_certificates_are_checked_unless_the_environment_says_no(tls_store):
    store, certificate = tls_store
    command = [sys.executable, "-c", OPERATIONS, f"s3://{store.make_bucket()}/dir"]
    right = ["None", "50000", "['file']"]

    def run_with(**variables):
        return run_process(command, **store.variables, **variables).stdout.splitlines()

    assert run_with(S3_VERIFY_SSL="0") == right
    assert run_with(S3_CA_FILE=str(certificate)) == right
    assert "certificate verify failed" in run_with()[0]


# Waits in a slow read when the signal comes.
WAITING = """
import signal
import sys
import tensorflow as tf
from estimator_train import remote

remote.register("s3")

def end(number, frame):
    raise SystemExit(143)

signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
found = tf.io.gfile.exists(sys.argv[1])
for _ in range(100):
    signal.sigtimedwait([], 0.01)
print("not interrupted", found)
"""


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, -2)])
def test_an_exception_of_a_signal_handler_passes_tensorflow(proxy, bucket, number, code):
    command = [sys.executable, "-c", WAITING, f"s3://{bucket}/none"]
    process, sent = None, []

    def interrupt(method, path):
        if not sent:
            sent.append(number)
            process.send_signal(number)
        return 0.5

    proxy.rule = interrupt
    process = subprocess.Popen(
        command,
        env={**os.environ, "S3_ENDPOINT": proxy.endpoint},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    output, errors = process.communicate(timeout=500)
    assert output == "ready\n", errors[-2000:]
    assert process.returncode in (code, 130 if code < 0 else code)
