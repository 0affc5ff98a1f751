"""Hook that shows the progress of training: a bar on a terminal, plain lines in a log."""

import dataclasses
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

import tensorflow as tf
from tqdm import tqdm

from estimator_train.engine.types import Hook, RunArgs, RunContext, RunValues

LastStep = int | Callable[[tf.compat.v1.Session], int | None] | None


class ProgressHook(Hook):
    """Hook that shows the step, the loss, the rate and the remaining time.

    On a terminal and in a notebook it shows a bar. Otherwise it writes a line after the first
    step, a line every `every_secs`, and a line at the end. The loss is the last one in the graph's
    collection of losses, which the estimator minimizes.

    Args:
      last_step: The global step at which training ends; or a function from the session to this
        step, if only the finished graph knows it; or None if it is unknown, which hides the
        remaining time.
      batch_size: Examples in one step over all replicas (the global batch); None shows no
        examples per second.
      every_secs: Seconds between updates; by default 0.1 for the bar and 10 for lines.
      stream: Output stream; by default the standard error when training starts.
      clock: Function that returns the time in seconds, for the rates in lines; a monotonic clock
        by default.

    Raises:
      ValueError: `batch_size` or `every_secs` is not positive.
    """

    def __init__(
        self,
        last_step: LastStep = None,
        batch_size: int | None = None,
        every_secs: float | None = None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for name, value in (("batch_size", batch_size), ("every_secs", every_secs)):
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be positive, but got {value}.")
        self._last_step = last_step
        self._batch_size = batch_size
        self._every_secs = every_secs
        self._stream = stream
        self._clock = clock
        self._display: _Bar | _Lines | None = None

    def begin(self) -> None:
        """Finds the step and the loss in the graph."""
        self._fetches = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.LOSSES)[-1:]
        self._global_step = tf.compat.v1.train.get_global_step()
        self._loss: float | None = None
        self._display = None

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Starts the display, unless the session replaces a lost one."""
        if self._display is None:
            self._display = self._start(session)
        self._due = self._clock()

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Fetches the loss, which the step computes anyway."""
        return RunArgs(self._fetches)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Updates the display if it is due."""
        if run_values.results:
            self._loss = float(run_values.results[0])
        if self._display is None or self._clock() < self._due:
            return
        # Reading the step only for an update is cheaper than fetching it in each step.
        self._display.show(run_context.session.run(self._global_step), self._loss)
        self._due = self._clock() + (self._every_secs or self._display.every_secs)

    def steps_until_due(self, global_step: int) -> int | None:
        """Allows steps in a loop until the next update is due."""
        return 1 if self._clock() >= self._due else None

    def after_loop(self, steps: int, loss: float) -> None:
        """Keeps the loss of the last step of a loop."""
        self._loss = float(loss)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Shows the last step and ends the display."""
        if self._display is not None:
            self._display.end(session.run(self._global_step), self._loss)
        self.close()

    def close(self) -> None:
        """Closes the display. Call this after an error in training."""
        if self._display is not None:
            self._display.close()
        self._display = None

    def _start(self, session: tf.compat.v1.Session) -> "_Bar | _Lines":
        run = _Run(
            first=int(session.run(self._global_step)),
            last=self._last_step(session) if callable(self._last_step) else self._last_step,
            batch_size=self._batch_size,
            stream=self._stream or sys.stderr,
        )
        if self._stream is None and _in_notebook():
            return _NotebookBar(run)
        return _Bar(run) if run.stream.isatty() else _Lines(run, self._clock)


@dataclasses.dataclass(frozen=True)
class _Run:
    """Facts about a training that are known when it starts."""

    first: int
    last: int | None
    batch_size: int | None
    stream: TextIO


def _in_notebook() -> bool:
    """Returns whether a notebook runs this program and can show tqdm's bar for notebooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel") and importlib.util.find_spec("ipywidgets") is not None


class _Bar:
    """Bar of tqdm that fits in 80 columns."""

    every_secs = 0.1

    def __init__(self, run: _Run) -> None:
        self._batch_size = run.batch_size
        self._bar = self._create(run)

    def _create(self, run: _Run) -> tqdm:
        # tqdm draws nothing on a pseudo-terminal without a size.
        has_size = os.get_terminal_size(run.stream.fileno()).columns > 0
        return tqdm(
            desc="train",
            initial=run.first,
            total=run.last,
            file=run.stream,
            ncols=None if has_size else 80,
            nrows=None if has_size else 24,
            dynamic_ncols=has_size,
            bar_format="{desc}: step {n_fmt} [{elapsed}{postfix}]"
            if run.last is None
            else "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]",
        )

    def show(self, step: int, loss: float | None) -> None:
        bar = self._bar
        bar.update(step - bar.n)
        state = bar.format_dict
        # The mean, until tqdm has a smoothed rate.
        rate = state["rate"] or (step - bar.initial) / max(state["elapsed"], 1e-9)
        figures = [_format_throughput(rate, self._batch_size)]
        if loss is not None:
            figures.append(f"loss {loss:.4g}")
        bar.set_postfix_str(", ".join(figures))

    end = show

    def close(self) -> None:
        self._bar.close()


class _NotebookBar(_Bar):
    """Bar of tqdm for notebooks."""

    def _create(self, run: _Run) -> tqdm:
        from tqdm.notebook import tqdm as notebook_tqdm

        return notebook_tqdm(desc="train", initial=run.first, total=run.last)


class _Lines:
    """Lines of plain text with rates since the previous line, or since the start in the last."""

    every_secs = 10.0

    def __init__(self, run: _Run, clock: Callable[[], float]) -> None:
        self._run = run
        self._clock = clock
        self._start = self._previous = (run.first, clock())
        self._has_shown = False

    def show(self, step: int, loss: float | None) -> None:
        now = self._clock()
        parts = self._format_position(step, loss)
        if self._has_shown:  # The first step is not typical.
            rate = _compute_rate(self._previous, (step, now))
            parts += self._format_rates(rate)
            if self._run.last is not None and rate > 0:
                parts.append(f"{_format_duration((self._run.last - step) / rate)} left")
        self._write(parts)
        self._previous = (step, now)
        self._has_shown = True

    def end(self, step: int, loss: float | None) -> None:
        now = self._clock()
        rates = self._format_rates(_compute_rate(self._start, (step, now)))
        done = f"done in {_format_duration(now - self._start[1])}"
        self._write([*self._format_position(step, loss), *rates, done])

    def close(self) -> None:
        pass

    def _format_position(self, step: int, loss: float | None) -> list[str]:
        last = self._run.last
        total = f"/{last} ({100 * step // last}%)" if last else ""
        return [f"step {step}{total}"] + ([] if loss is None else [f"loss {loss:.4g}"])

    def _format_rates(self, rate: float) -> list[str]:
        sizes = [None, self._run.batch_size] if self._run.batch_size else [None]
        return [_format_throughput(rate, size) for size in sizes]

    def _write(self, parts: list[str]) -> None:
        self._run.stream.write("  ".join(parts) + "\n")
        self._run.stream.flush()


def _compute_rate(start: tuple[int, float], end: tuple[int, float]) -> float:
    """Returns the steps per second between two pairs of step and time."""
    steps, seconds = end[0] - start[0], end[1] - start[1]
    return steps / seconds if seconds > 0 else 0.0


def _format_throughput(steps_per_second: float, batch_size: int | None) -> str:
    if batch_size is None:
        return f"{_format_number(steps_per_second)} steps/s"
    return f"{_format_number(steps_per_second * batch_size)} examples/s"


def _format_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _format_duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, secs = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{secs:02}"
