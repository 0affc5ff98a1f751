"""Files that are sent to a store in parts, and appear when they are complete."""

import sys
import threading

import pytest
from processes import run_process

UPLOADS = """
import sys
import tensorflow as tf
from estimator_train import remote

remote.register("s3")
root, gfile = sys.argv[1], tf.io.gfile
with gfile.GFile(f"{root}/large", "wb") as file:
    file.write(b"ab" * (20 << 20))
name = f"{root}/model.ckpt-1.data-00000-of-00001"
with gfile.GFile(name + ".tempstate1", "wb") as file:
    file.write(b"cd" * (20 << 20))
gfile.rename(name + ".tempstate1", name)
with gfile.GFile(f"{root}/appended", "wb") as file:
    file.write(b"e" * (6 << 20))
    file.flush()
    tail = gfile.GFile(f"{root}/appended", "ab")
with tail:
    tail.write(b"f")
print(*(gfile.stat(path).length for path in (f"{root}/large", name, f"{root}/appended")))
"""


@pytest.mark.long
def test_an_upload_whose_last_answer_is_lost_is_complete(store, proxy, bucket):
    lost = []

    def choose(method, path):
        if method != "POST" or "uploadId=" not in path:
            return None
        if path in lost:
            return ("NoSuchUpload", 404)
        lost.append(path)
        return "lose"

    proxy.rule = choose
    command = [sys.executable, "-c", UPLOADS, f"s3://{bucket}/dir"]
    done = run_process(command, S3_ENDPOINT=proxy.endpoint)
    assert done.stdout.split() == [str(40 << 20), str(40 << 20), str((6 << 20) + 1)]
    assert len(lost) == 3
    assert store.read(bucket, "dir/large") == b"ab" * (20 << 20)
    assert store.read(bucket, "dir/appended").endswith(b"eef")


def is_part(method, path):
    return method == "PUT" and "partNumber=" in path


@pytest.mark.long
def test_parts_of_a_file_are_sent_together_and_stand_in_order(store, proxy, bucket):
    content = b"".join(bytes([one]) * (1 << 20) for one in range(64))
    four = threading.Barrier(4)  # Sent one by one, the first part would wait in vain.

    def choose(method, path):
        if is_part(method, path):
            four.wait(60)
        return

    proxy.rule = choose
    program = """
import sys
import tensorflow as tf
from estimator_train import remote

remote.register("s3")
with tf.io.gfile.GFile(sys.argv[1], "wb") as file:
    for one in range(64):
        file.write(bytes([one]) * (1 << 20))
"""
    command = [sys.executable, "-c", program, f"s3://{bucket}/file"]
    run_process(command, S3_ENDPOINT=proxy.endpoint)
    assert store.read(bucket, "file") == content


@pytest.mark.long
def test_a_part_that_is_refused_is_an_error_and_leaves_no_object(store, proxy, bucket):
    proxy.rule = lambda method, path: 403 if is_part(method, path) else None
    command = [sys.executable, "-c", UPLOADS, f"s3://{bucket}/dir"]
    done = run_process(command, exit_code=1, S3_ENDPOINT=proxy.endpoint)
    assert f"s3://{bucket}/dir/large" in done.stderr
    assert store.list_keys(bucket) == []
    assert "Uploads" not in store.client.list_multipart_uploads(Bucket=bucket)


@pytest.mark.long
def test_an_upload_that_another_process_ended_is_an_error(store, proxy, bucket):
    # The object of that name is an older one.
    def choose(method, path):
        return ("NoSuchUpload", 404) if method == "POST" and "uploadId=" in path else None

    store.client.put_object(Bucket=bucket, Key="dir/large", Body=b"ab" * (20 << 20))
    proxy.rule = choose
    command = [sys.executable, "-c", UPLOADS, f"s3://{bucket}/dir"]
    done = run_process(command, exit_code=1, S3_ENDPOINT=proxy.endpoint)
    assert f"NotFoundError: s3://{bucket}/dir/large" in done.stderr
