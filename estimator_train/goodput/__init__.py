"""Goodput of a training: its useful time over its elapsed time, and the time lost by cause.

`clock.py` measures the time of one process by cause; `account.py` adds up the records of all
processes of a training, including those that were killed. Neither imports TensorFlow.
"""
