"""Plots of the history of trainings, as PNG files, as an HTML page, and in notebooks.

from estimator_train.report import report

report("runs/a", "runs/b")  # As the last line of a cell, this shows the plots.
"""

from estimator_train.report.report import Report, report

__all__ = ["Report", "report"]
