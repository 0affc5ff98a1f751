"""Training time lost to one save of 400 MB of variables, on a local disk and on S3."""

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from benchmarks.apis import APIS, Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.linear_model import linear_model_fn, repeat_one_batch

_WINDOWS = {20_000: 9, 100_000: 5}  # Number of windows by their steps.
_WINDOW, _LONG_WINDOW = _WINDOWS  # A transfer to S3 ends within the longer one.
_VARIABLES = 8
_WAIT = 10  # Steps whose time includes that of the save at the last one.


def _measure_local(apis: Apis, quick: bool) -> float:
    with tempfile.TemporaryDirectory() as model_dir:
        return _measure_lost_time(_train(apis, model_dir, quick, _WINDOW))


def _measure_local_wait(quick: bool) -> Mapping[str, float]:
    with tempfile.TemporaryDirectory() as model_dir:
        return _measure_wait(model_dir, quick)


def _measure_wait(model_dir: str, quick: bool) -> Mapping[str, float]:
    """Returns the wait at the step of a save, and the time that its window loses."""
    windows = _train(APIS[OURS], model_dir, quick, _LONG_WINDOW)
    waits = [window.wait for window in windows]
    return {
        "saving_s3": 1e3 * max(1e-6, median(waits[1::2]) - median(waits[2::2])),
        "saving_s3_lost": _measure_lost_time(windows),
    }


class _Window(NamedTuple):
    """Times of a window of steps; every second one has a save at its middle step.

    Attributes:
      span: The time of all steps.
      wait: The time of the few steps up to the middle one.
    """

    span: float
    wait: float


def _measure_lost_time(windows: Sequence[_Window]) -> float:
    """Returns the milliseconds that a save adds to a window of steps."""
    spans = [window.span for window in windows]
    return 1e3 * max(1e-6, median(spans[1::2]) - median(spans[2::2]))


def _train(apis: Apis, model_dir: str, quick: bool, window: int) -> list[_Window]:
    """Returns the windows of a training; the first one has no save."""
    import tensorflow as tf

    api = apis.estimator
    windows, side = _WINDOWS[window], 3536
    if quick:
        window, side = 4 * _WAIT, 8

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        for index in range(_VARIABLES):
            tf.compat.v1.get_variable(f"large_{index}", [side, side], trainable=False)
        return linear_model_fn(api)(features, labels, mode)

    middles = [window * (number + 1) for number in range(windows)]
    marks = {middle - window // 2 for middle in middles} | {middles[-1] + window // 2}
    clock = _make_clock([*marks, *middles, *(middle - _WAIT for middle in middles)])
    config = api.RunConfig(
        model_dir, save_checkpoints_steps=2 * window, log_step_count_steps=window // 2
    )
    estimator = api.Estimator(model_fn, config=config)
    estimator.train(repeat_one_batch, [clock], steps=middles[-1] + window // 2 + 1)
    times = clock.times
    return [
        _Window(
            times[middle + window // 2] - times[middle - window // 2],
            times[middle] - times[middle - _WAIT],
        )
        for middle in middles
    ]


def _make_clock(steps: Iterable[int]) -> Any:
    """Returns a hook that records the times at these steps."""
    import tensorflow as tf

    class Clock(tf.compat.v1.train.SessionRunHook):
        def begin(self) -> None:
            self.times: dict[int, float] = {}
            self._due = sorted(steps)
            self._seen = 0

        def steps_until_due(self, global_step: int) -> int | None:
            return self._due[0] - self._seen if self._due else None

        def after_loop(self, steps: int, loss: float) -> None:
            self._seen += steps

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self._seen += 1
            if self._due and self._seen == self._due[0]:
                self.times[self._due.pop(0)] = time.perf_counter()

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
        return _measure_wait("s3://bucket/model", quick)


_LOCAL = "a local disk"
_S3_PEERS = {OURS: _measure_s3, _LOCAL: _measure_local_wait}
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
