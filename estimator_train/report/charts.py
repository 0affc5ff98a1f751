"""Plots the charts of a report with matplotlib."""

import io
import statistics
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from estimator_train.report.runs import Points, Run, compute_median

_SIZE = (8.0, 4.5)


def draw(runs: Sequence[Run]) -> dict[str, bytes]:
    """Plots all charts for which the runs have values.

    Args:
      runs: The runs.

    Returns:
      Maps chart names to PNG files, as bytes.
    """
    losses: list[tuple[str, Points]] = []
    step_times: list[tuple[str, Points]] = []
    for run in runs:
        losses += [(run.name, run.loss), (f"{run.name}, evaluation", run.eval_loss)]
        milliseconds = [(step, 1000 / rate) for step, rate in run.steps_per_sec if rate > 0]
        step_times.append((run.name, milliseconds))
    charts = {
        "loss": _plot_lines(losses, "loss"),
        "throughput": _plot_throughput(runs),
        "step_time": _plot_lines(step_times, "milliseconds per step"),
        "scaling": _plot_scaling(runs),
    }
    return {name: _encode_png(figure) for name, figure in charts.items() if figure is not None}


def _encode_png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, dpi=120)
    return file.getvalue()


def _plot_throughput(runs: Sequence[Run]) -> Figure | None:
    """Plots examples per second if all runs have them, otherwise steps per second."""
    has_examples = all(run.examples_per_sec for run in runs)
    lines = [
        (run.name, run.examples_per_sec if has_examples else run.steps_per_sec) for run in runs
    ]
    return _plot_lines(lines, _find_rate_label(has_examples), from_zero=True)


def _find_rate_label(has_examples: bool) -> str:
    return "examples per second" if has_examples else "steps per second"


def _make_figure(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(alpha=0.3)
    return figure, axes


def _plot_lines(
    lines: Sequence[tuple[str, Points]], y_label: str, *, from_zero: bool = False
) -> Figure | None:
    lines = [(name, points) for name, points in lines if points]
    if not lines:
        return None
    figure, axes = _make_figure("global step", y_label)
    for name, points in lines:
        steps, values = zip(*points, strict=True)
        axes.plot(steps, values, label=name, marker="o" if len(points) < 10 else "")
    if from_zero:
        axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def compute_scaling(runs: Sequence[Run]) -> tuple[list[tuple[int, float]], bool]:
    """Computes the throughput for each number of replicas.

    The throughput of a run is its median. Runs with the same number of replicas are averaged.

    Returns:
      Pairs of (replicas, rate), and whether rates are examples per second. They are steps per
      second if a run with a known number of replicas has no examples per second.
    """
    usable = [run for run in runs if run.replicas and run.steps_per_sec]
    has_examples = all(run.examples_per_sec for run in usable)
    rates: dict[int, list[float]] = {}
    for run in usable:
        assert run.replicas
        points = run.examples_per_sec if has_examples else run.steps_per_sec
        rates.setdefault(run.replicas, []).append(compute_median(points))
    means = ((replicas, statistics.fmean(values)) for replicas, values in rates.items())
    return sorted(means), has_examples


def _plot_scaling(runs: Sequence[Run]) -> Figure | None:
    """Plots throughput over replicas, and a line for linear scaling."""
    points, has_examples = compute_scaling(runs)
    if len(points) < 2:
        return None
    figure, axes = _make_figure("replicas", _find_rate_label(has_examples))
    replicas, rates = zip(*points, strict=True)
    ideal = [rates[0] * n / replicas[0] for n in replicas]
    positions = range(len(replicas))
    axes.bar(positions, rates, width=0.5, label="measured")
    axes.plot(positions, ideal, "--", color="gray", label="linear")
    for position, rate, ideal_rate in zip(positions, rates, ideal, strict=True):
        text = f"{rate:,.0f} ({rate / ideal_rate:.0%})"
        axes.annotate(text, (position, rate), ha="center", va="bottom")
    axes.set_xticks(positions, [str(n) for n in replicas])
    axes.legend()
    return figure
