"""Plots of trainings: as PNG files, as one page of HTML, and in a notebook.

from estimator_train.report import report

report("runs/a", "runs/b")  # The last line of a cell shows the figures in place.
"""

from estimator_train.report.report import Report, report

__all__ = ["Report", "report"]
