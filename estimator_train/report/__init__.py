"""Plots of the history of trainings, as PNG files, as an HTML page, and in notebooks.

from estimator_train.report import report

report("runs/a", "runs/b")  # As the last line of a cell, this shows the plots.
"""

import base64
import html
import io
import os
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from estimator_train.engine.storage import atomic_write
from estimator_train.remote import make_output_directory
from estimator_train.report.runs import Points, Run, compute_median, read_run

__all__ = ["Report", "report"]
_SIZE = (8.0, 4.5)
_GOODPUT, _STRAGGLER = "_goodput", "_straggler"
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; max-width: 60em; margin: 2em auto; }}
img {{ max-width: 100%; }}
td {{ padding: 0.2em 1em 0.2em 0; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


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


class Report(NamedTuple):
    """Plots and summaries of some runs.

    Attributes:
      rows: Maps names of runs to one-line summaries, NAME_goodput to their useful and lost
        time, and NAME_straggler to the slowest task.
      charts: Maps names of charts to PNG files, as bytes.
    """

    rows: dict[str, str]
    charts: dict[str, bytes]

    def write(self, output_dir: str) -> dict[str, str]:
        """Writes a PNG file for each chart, and report.html, which contains all charts.

        Args:
          output_dir: The directory; it is created if it does not exist.

        Returns:
          Maps the names of the charts, and "report", to the paths of the files.
        """
        make_output_directory(output_dir)
        title = ", ".join(name for name in self.rows if not name.endswith((_GOODPUT, _STRAGGLER)))
        page = _PAGE.format(title=html.escape(title), body=self._repr_html_())
        files = {f"{name}.png": data for name, data in self.charts.items()}
        paths = {}
        for file_name, data in {**files, "report.html": page.encode()}.items():
            path = os.path.join(output_dir, file_name)
            atomic_write(path, data)
            paths[file_name.rpartition(".")[0]] = path
        return paths

    def _repr_html_(self) -> str:
        """Returns HTML for notebooks."""
        rows = "\n".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>"
            for name, text in self.rows.items()
        )
        pictures = "\n".join(
            f'<p><img alt="{html.escape(name)}" '
            f'src="data:image/png;base64,{base64.b64encode(data).decode()}"></p>'
            for name, data in self.charts.items()
        )
        return f"<table>\n{rows}\n</table>\n{pictures}"


def report(*model_dirs: str, replicas: Sequence[int] = ()) -> Report:
    """Plots the loss, the throughput and the time of a step over the steps of runs.

    Args:
      *model_dirs: The directories of the runs.
      replicas: Number of replicas of each run; by default the number in its history.

    Returns:
      The report; a notebook shows it if it is the last line of a cell.

    Raises:
      ValueError: A directory does not exist, or has no history and no event files of a training.
    """
    runs: list[Run] = [read_run(model_dir) for model_dir in model_dirs]
    if replicas:
        runs = [run._replace(replicas=n) for run, n in zip(runs, replicas, strict=True)]
    rows = {run.name: run.summary() for run in runs}
    rows |= {f"{run.name}{_GOODPUT}": str(run.goodput) for run in runs if run.goodput}
    rows |= {f"{run.name}{_STRAGGLER}": run.straggler for run in runs if run.straggler}
    return Report(rows, draw(runs))
