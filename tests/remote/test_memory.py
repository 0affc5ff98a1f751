"""Memory of readers: TensorFlow has a buffer of 127 MiB for each open s3:// file of TFRecords."""

import sys
from pathlib import Path

import pytest
import tensorflow as tf
from processes import run_process

_FILES = 16
_RECORDS = 40
_RECORD_BYTES = 1 << 20


@pytest.mark.long
def test_sixteen_interleaved_files_fill_no_large_buffers(store, bucket, tmp_path):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(_RECORDS):
            writer.write(b"x" * _RECORD_BYTES)
    content = Path(path).read_bytes()
    for number in range(_FILES):
        store.client.put_object(Bucket=bucket, Key=f"data/{number:02}.tfrecord", Body=content)
    store.client.put_object(Bucket=bucket, Key="data/first", Body=b"1")
    program = Path(__file__).with_name("read_many.py")
    done = run_process([sys.executable, program, f"s3://{bucket}/data"])
    records, growth_mb = done.stdout.split()
    assert int(records) == _FILES * _RECORDS
    # The blocks, and those that are read ahead, are 256 MB; the files 640.
    assert int(growth_mb) < 500, done.stdout
