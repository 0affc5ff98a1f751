"""Checks of data, models, machines, and of jobs before they run."""
