"""Training time lost to one save of 400 MB of variables, on a local disk and on S3."""

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.apis import APIS, Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.linear_model import linear_model_fn, repeat_one_batch

_WINDOWS = {20_000: 9, 100_000: 5}  # Number of windows by their steps.
_WINDOW, _LONG_WINDOW = _WINDOWS  # A transfer to S3 ends within the longer one.
_VARIABLES = 8
_PARTS = 200  # Loops of a window whose waits are measured.


def _measure_local(apis: Apis, quick: bool) -> float:
    with tempfile.TemporaryDirectory() as model_dir:
        return _measure_lost_time(_train(apis, model_dir, quick, is_fine=False), 1)


def _measure_local_gaps(quick: bool) -> Mapping[str, float]:
    with tempfile.TemporaryDirectory() as model_dir:
        return _measure_gaps(model_dir, quick)


def _measure_gaps(model_dir: str, quick: bool) -> Mapping[str, float]:
    """Returns the wait at the step of a save, and the time that its window loses."""
    marks = _train(APIS[OURS], model_dir, quick, is_fine=True)
    gaps = [b - a for a, b in zip(marks, marks[1:], strict=False)]
    windows = [gaps[start : start + _PARTS] for start in range(0, len(gaps), _PARTS)]
    # A save is in the middle of every second window.
    waits = [window[_PARTS // 2 - 1] - median(window) for window in windows[1::2]]
    return {
        "saving_s3": 1e3 * median(waits),
        "saving_s3_lost": _measure_lost_time(marks, _PARTS),
    }


def _measure_lost_time(marks: Sequence[float], parts: int) -> float:
    """Returns the milliseconds that a save adds to a window of steps.

    Windows with a save and windows without a save alternate.
    """
    edges = marks[::parts]
    spans = [b - a for a, b in zip(edges, edges[1:], strict=False)]
    return 1e3 * max(1e-6, median(spans[1::2]) - median(spans[2::2]))


def _train(apis: Apis, model_dir: str, quick: bool, is_fine: bool) -> list[float]:
    """Returns the times in the middle of each window, or `_PARTS` times for each window."""
    import tensorflow as tf

    api = apis.estimator
    window, side = _LONG_WINDOW if is_fine else _WINDOW, 3536
    windows = _WINDOWS[window]
    if quick:
        window, side = 2 * _PARTS, 8

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        for index in range(_VARIABLES):
            tf.compat.v1.get_variable(f"large_{index}", [side, side], trainable=False)
        return linear_model_fn(api)(features, labels, mode)

    clock = _make_clock(window // 2, window // _PARTS if is_fine else window)
    config = api.RunConfig(
        model_dir, save_checkpoints_steps=2 * window, log_step_count_steps=window // 2
    )
    estimator = api.Estimator(model_fn, config=config)
    estimator.train(repeat_one_batch, [clock], steps=window * windows + 1)
    return clock.marks


def _make_clock(first: int, interval: int) -> Any:
    """Returns a hook that records the time at step `first`, and then at each interval of steps."""
    import tensorflow as tf

    class Clock(tf.compat.v1.train.SessionRunHook):
        def begin(self) -> None:
            self.marks: list[float] = []
            self._seen = 0

        def steps_until_due(self, global_step: int) -> int:
            return first + len(self.marks) * interval - self._seen

        def after_loop(self, steps: int, loss: float) -> None:
            self._seen += steps

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self._seen += 1
            if self._seen == first + len(self.marks) * interval:
                self.marks.append(time.perf_counter())

    return Clock()


@contextlib.contextmanager
def _serve_bucket() -> Iterator[None]:
    """Starts moto's server of S3 with a bucket, on the same processors, and registers it."""
    import boto3

    from estimator_train import remote

    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        try:
            assert server.stderr is not None
            lines = iter(server.stderr.readline, b"")
            line = next(line for line in lines if b"http://127.0.0.1:" in line)
            port = int(line.rpartition(b":")[2])
            threading.Thread(target=server.stderr.read, daemon=True).start()
            options = {"endpoint_url": f"http://127.0.0.1:{port}"}
            boto3.client(
                "s3",
                **options,
                region_name="us-east-1",
                aws_access_key_id="key",
                aws_secret_access_key="secret",
            ).create_bucket(Bucket="bucket")
            remote.register("s3", key="key", secret="secret", **options)
            yield
        finally:
            server.kill()


def _measure_s3(quick: bool) -> Mapping[str, float]:
    with _serve_bucket():
        return _measure_gaps("s3://bucket/model", quick)


_LOCAL = "a local disk"
_S3_PEERS = {OURS: _measure_s3, _LOCAL: _measure_local_gaps}
BENCHMARKS = (
    Benchmark(
        "saving",
        "save: training time lost to one checkpoint of 400 MB",
        "ms",
        compare_apis(_measure_local),
        less_is_better=True,
        goals={ORIGINAL: 10.0},
    ),
    Benchmark(
        "saving_s3",
        "save: wait at the step of a checkpoint of 400 MB on S3",
        "ms",
        _S3_PEERS,
        less_is_better=True,
        goals={_LOCAL: 0.83},
        job="saving_s3",
    ),
    Benchmark(
        "saving_s3_lost",
        "save: time lost to the same; a server of S3 uses the same 2 processors",
        "ms",
        _S3_PEERS,
        less_is_better=True,
        job="saving_s3",
    ),
)
