"""The charts of a report, with matplotlib."""

import io
import statistics
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from estimator_train.report.runs import Points, Run, median

_SIZE = (8.0, 4.5)


def draw(runs: Sequence[Run]) -> dict[str, bytes]:
    """Draws what there are figures for.

    Args:
      runs: The runs.

    Returns:
      Name of a chart to its PNG file, as bytes.
    """
    charts = {
        "loss": _lines(_losses(runs), "loss"),
        "throughput": _throughput(runs),
        "step_time": _lines(
            [(r.name, [(s, 1000 / v) for s, v in r.steps_per_sec if v > 0]) for r in runs],
            "milliseconds a step",
        ),
        "scaling": _scaling(runs),
    }
    return {name: _png(figure) for name, figure in charts.items() if figure is not None}


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, dpi=120)
    return file.getvalue()


def _losses(runs: Sequence[Run]) -> list[tuple[str, Points]]:
    return [
        line
        for run in runs
        for line in ((run.name, run.loss), (f"{run.name}, evaluation", run.eval_loss))
    ]


def _throughput(runs: Sequence[Run]) -> Figure | None:
    """Examples a second if they are known of all runs, else steps."""
    examples = all(run.examples_per_sec for run in runs)
    lines = [(run.name, run.examples_per_sec if examples else run.steps_per_sec) for run in runs]
    return _lines(lines, "examples a second" if examples else "steps a second", from_zero=True)


def _figure(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=_SIZE, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(alpha=0.3)
    return figure, axes


def _lines(
    lines: Sequence[tuple[str, Points]], y_label: str, *, from_zero: bool = False
) -> Figure | None:
    drawn = [(name, points) for name, points in lines if points]
    if not drawn:
        return None
    figure, axes = _figure("global step", y_label)
    for name, points in drawn:
        steps, values = zip(*points, strict=True)
        axes.plot(steps, values, label=name, marker="o" if len(points) < 10 else "")
    if from_zero:
        axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def scaling_points(runs: Sequence[Run]) -> tuple[list[tuple[int, float]], bool]:
    """Replicas and examples (or steps) a second, the median of a run's and the mean of such runs.

    Returns:
      The points, and whether they are of examples: steps are compared where examples are not known
      of all runs whose replicas are known.
    """
    known = [run for run in runs if run.replicas and run.steps_per_sec]
    by_examples = all(run.examples_per_sec for run in known)
    rates: dict[int, list[float]] = {}
    for run in known:
        assert run.replicas
        points = run.examples_per_sec if by_examples else run.steps_per_sec
        rates.setdefault(run.replicas, []).append(median(points))
    means = ((replicas, statistics.fmean(found)) for replicas, found in rates.items())
    return sorted(means), by_examples


def _scaling(runs: Sequence[Run]) -> Figure | None:
    """Throughput over replicas, beside what it would be if each added as much as the first."""
    points, examples = scaling_points(runs)
    if len(points) < 2:
        return None
    figure, axes = _figure("replicas", "examples a second" if examples else "steps a second")
    replicas, rates = zip(*points, strict=True)
    ideal = [rates[0] * n / replicas[0] for n in replicas]
    positions = range(len(replicas))
    axes.bar(positions, rates, width=0.5, label="measured")
    axes.plot(positions, ideal, "--", color="gray", label="linear")
    for position, rate, best in zip(positions, rates, ideal, strict=True):
        text = f"{rate:,.0f} ({rate / best:.0%})"
        axes.annotate(text, (position, rate), ha="center", va="bottom")
    axes.set_xticks(positions, [str(n) for n in replicas])
    axes.legend()
    return figure
