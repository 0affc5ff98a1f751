"""Servers of TensorFlow that a program's processes start in any order."""

import os
from typing import Any

import tensorflow as tf

# Read by TensorFlow at each call from one process to another.
_FAIL_FAST = "GRPC_FAIL_FAST"


class Server(tf.distribute.Server):
    """`tf.train.Server` as TensorFlow 1 had it: its calls wait for processes that start later.

    In today's TensorFlow a call fails if its target did not listen yet when it was first contacted:
    a parameter server that starts first then makes the chief fail at its first step.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As `tf.distribute.Server`; the environment's GRPC_FAIL_FAST, if set, goes first."""
        os.environ.setdefault(_FAIL_FAST, "false")
        super().__init__(*args, **kwargs)
