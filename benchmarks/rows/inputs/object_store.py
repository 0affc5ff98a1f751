"""TFRecords on S3, interleaved, compared with a download by boto3 and a local read after it.

A figure is that of a process whose connections are open and whose data is in no cache of its own;
the time to import and to connect does not count.
"""

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.benchmark import OURS, Benchmark

_FILES = 5
_RECORD_BYTES = 100_000
_LATENCY_SECS = 0.02
_BOTO3 = "boto3's download, then a local read"
_Read = Callable[[Sequence[str]], int]


def _count_records(paths: Sequence[str]) -> int:
    import tensorflow as tf

    files = tf.data.Dataset.from_tensor_slices(list(paths))
    records = files.interleave(
        tf.data.TFRecordDataset, cycle_length=_FILES, num_parallel_calls=_FILES
    )
    return int(records.reduce(tf.constant(0, tf.int64), lambda count, _: count + 1))


@contextlib.contextmanager
def _serve(folder: Path, delay_secs: float) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.range_server", str(folder), str(delay_secs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.kill()


def _make_plugin_reader(endpoint: str) -> _Read:
    from estimator_train import remote

    remote.register("s3", endpoint_url=f"http://{endpoint}", key="key", secret="secret")
    return lambda names: _count_records([f"s3://bucket/{name}" for name in names])


def _make_boto3_reader(endpoint: str) -> _Read:
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=f"http://{endpoint}",
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )

    def read(names: Sequence[str]) -> int:
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/{name}" for name in names]
            for name, path in zip(names, paths, strict=True):
                client.download_file("bucket", name, path)
            return _count_records(paths)

    return read


def _write(folder: Path, records: int) -> None:
    import tensorflow as tf

    for number in range(_FILES):
        with tf.io.TFRecordWriter(f"{folder}/{number}.tfrecord") as writer:
            for _ in range(records):
                writer.write(os.urandom(_RECORD_BYTES))
    with tf.io.TFRecordWriter(f"{folder}/first.tfrecord") as writer:
        writer.write(b"x")


def _measure(make_reader: Callable[[str], _Read], delay_secs: float, quick: bool) -> Any:
    """Returns MB/s, and the milliseconds of this process's processors for each MB."""
    records = 20 if quick else 1000
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), records)
        with _serve(Path(folder), delay_secs) as endpoint:
            read = make_reader(endpoint)
            read(["first.tfrecord"])
            cpu_secs, start = _read_cpu_secs(), time.perf_counter()
            found = read([f"{number}.tfrecord" for number in range(_FILES)])
            secs, cpu_secs = time.perf_counter() - start, _read_cpu_secs() - cpu_secs
    assert found == _FILES * records, found
    megabytes = found * _RECORD_BYTES / 1e6
    return megabytes / secs, 1e3 * cpu_secs / megabytes


def _read_cpu_secs() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _make_peer(make_reader: Callable[[str], _Read]) -> Callable[[bool], Mapping[str, float]]:
    def measure(quick: bool) -> Mapping[str, float]:
        speed, cost = _measure(make_reader, 0.0, quick)
        return {"s3_records": speed, "s3_records_cpu": cost}

    return measure


def _make_slow_peer(make_reader: Callable[[str], _Read]) -> Callable[[bool], float]:
    return lambda quick: _measure(make_reader, _LATENCY_SECS, quick)[0]


_READERS = {OURS: _make_plugin_reader, _BOTO3: _make_boto3_reader}
_PEERS = {peer: _make_peer(reader) for peer, reader in _READERS.items()}
_SLOW_PEERS = {peer: _make_slow_peer(reader) for peer, reader in _READERS.items()}
BENCHMARKS = (
    Benchmark(
        "s3_records",
        "input: 500 MB of TFRecords in 5 files on S3, interleaved",
        "MB/s",
        _PEERS,
        goals={_BOTO3: 1.0},
        job="s3_records",
    ),
    Benchmark(
        "s3_records_cpu",
        "input: processor time of the same",
        "ms/MB",
        _PEERS,
        less_is_better=True,
        goals={_BOTO3: 1.0},
        job="s3_records",
    ),
    Benchmark(
        "s3_records_latency",
        "input: the same, with 20 ms of latency for each request",
        "MB/s",
        _SLOW_PEERS,
        goals={_BOTO3: 1.0},
    ),
)
