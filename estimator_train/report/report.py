"""Builds the report of one or more trainings."""

import base64
import html
import os
from collections.abc import Sequence
from typing import NamedTuple

from estimator_train.engine.atomic_write import atomic_write
from estimator_train.report import charts
from estimator_train.report.runs import Run, read_run

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
        os.makedirs(output_dir, exist_ok=True)
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
    return Report(rows, charts.draw(runs))
