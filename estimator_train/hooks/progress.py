"""What a user sees while training runs: a bar on a terminal, plain lines in a log."""

import dataclasses
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import tensorflow as tf
from tqdm import tqdm

from estimator_train.engine.hook_types import Hook, RunArgs, RunContext, RunValues

LastStep = int | Callable[[tf.compat.v1.Session], int | None] | None


class ProgressHook(Hook):
    """Shows the step, the loss, the rate and the time left.

    On a terminal and in a notebook this is a bar; elsewhere it is one line after the first step,
    one each `every_secs`, and one at the end. The loss is the one that the estimator trains on
    (the last in the graph's collection of losses).

    Args:
      last_step: The global step at which training ends; a function of the session that returns
        it, for what only the (finished) graph knows, such as the size of the input; or None if
        it is not known: then no time left is shown.
      batch_size: Examples in one step over all replicas (the global batch), or None to show no
        examples a second.
      every_secs: Seconds from one display to the next; 0.1 for the bar and 10 for lines by
        default.
      stream: Where to write; by default standard error as it is when training starts.
      clock: Returns the time in seconds for the lines' rates; a monotonic clock by default.

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

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Starts the display; one that was shown before the session was lost is kept."""
        del coord
        if self._display is None:
            self._display = self._start(session)
        self._due = self._clock()

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Asks for the loss, which the training call computes anyway."""
        del run_context
        return RunArgs(self._fetches)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Shows the step if the time for it has come."""
        if run_values.results:
            self._loss = float(run_values.results[0])
        if self._display is None or self._clock() < self._due:
            return
        # Read only when it is shown: a fetch of its own on each step would cost more.
        self._display.show(run_context.session.run(self._global_step), self._loss)
        self._due = self._clock() + (self._every_secs or self._display.every_secs)

    def steps_until_due(self, global_step: int) -> int | None:
        """Lets steps run in a loop until it is time for the next display."""
        del global_step
        return 1 if self._clock() >= self._due else None

    def after_loop(self, steps: int, loss: Any) -> None:
        """Keeps the loss of the last step that ran in a loop."""
        del steps
        self._loss = float(loss)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Shows the last step and ends the display."""
        if self._display is not None:
            self._display.end(session.run(self._global_step), self._loss)
        self.close()

    def close(self) -> None:
        """Ends the display where it is; call it when an error has ended training."""
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
    """What is known of a training when it starts."""

    first: int
    last: int | None
    batch_size: int | None
    stream: TextIO


def _in_notebook() -> bool:
    """Whether a notebook runs this program and can show tqdm's bar for notebooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel") and importlib.util.find_spec("ipywidgets") is not None


class _Bar:
    """A tqdm bar, short enough for 80 columns."""

    every_secs = 0.1

    def __init__(self, run: _Run) -> None:
        self._batch_size = run.batch_size
        self._bar = self._made(run)

    def _made(self, run: _Run) -> Any:
        # A pseudo-terminal may have no size: tqdm would then draw nothing.
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
        bar_is = bar.format_dict
        # Until tqdm has a smoothed rate there is the mean.
        rate = bar_is["rate"] or (step - bar.initial) / max(bar_is["elapsed"], 1e-9)
        figures = [_steps_or_examples(rate, self._batch_size)]
        if loss is not None:
            figures.append(f"loss {loss:.4g}")
        bar.set_postfix_str(", ".join(figures))

    end = show

    def close(self) -> None:
        self._bar.close()


class _NotebookBar(_Bar):
    """tqdm's bar for notebooks."""

    def _made(self, run: _Run) -> Any:
        from tqdm.notebook import tqdm as notebook_tqdm

        return notebook_tqdm(desc="train", initial=run.first, total=run.last)


class _Lines:
    """Plain lines; rates are those since the line before, in the last line the whole run's."""

    every_secs = 10.0

    def __init__(self, run: _Run, clock: Callable[[], float]) -> None:
        self._run = run
        self._clock = clock
        self._start = self._before = (run.first, clock())
        self._shown = False

    def show(self, step: int, loss: float | None) -> None:
        now = self._clock()
        parts = self._position(step, loss)
        if self._shown:  # The first step's time says nothing about those to come.
            rate = _per_second(self._before, (step, now))
            parts += self._rates(rate)
            if self._run.last is not None and rate > 0:
                parts.append(f"{_duration((self._run.last - step) / rate)} left")
        self._write(parts)
        self._before = (step, now)
        self._shown = True

    def end(self, step: int, loss: float | None) -> None:
        now = self._clock()
        rates = self._rates(_per_second(self._start, (step, now)))
        done = f"done in {_duration(now - self._start[1])}"
        self._write([*self._position(step, loss), *rates, done])

    def close(self) -> None:
        pass

    def _position(self, step: int, loss: float | None) -> list[str]:
        last = self._run.last
        of = f"/{last} ({100 * step // last}%)" if last else ""
        return [f"step {step}{of}"] + ([] if loss is None else [f"loss {loss:.4g}"])

    def _rates(self, rate: float) -> list[str]:
        sizes = [None, self._run.batch_size] if self._run.batch_size else [None]
        return [_steps_or_examples(rate, size) for size in sizes]

    def _write(self, parts: list[str]) -> None:
        self._run.stream.write("  ".join(parts) + "\n")
        self._run.stream.flush()


def _per_second(before: tuple[int, float], after: tuple[int, float]) -> float:
    steps, seconds = after[0] - before[0], after[1] - before[1]
    return steps / seconds if seconds > 0 else 0.0


def _steps_or_examples(steps_per_second: float, batch_size: int | None) -> str:
    if batch_size is None:
        return f"{_rate(steps_per_second)} steps/s"
    return f"{_rate(steps_per_second * batch_size)} examples/s"


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, secs = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{secs:02}"
