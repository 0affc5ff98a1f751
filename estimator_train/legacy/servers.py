"""Servers of TensorFlow that programs start by themselves, in any order."""

import os
from typing import Any

import tensorflow as tf

# Read by TensorFlow at each call from one process to another.
_FAIL_FAST = "GRPC_FAIL_FAST"


class Server(tf.distribute.Server):
    """`tf.train.Server` as TensorFlow 1 had it: its calls wait for processes that start later.

    Today a call fails where the process that it goes to was looked for once before it listened: a
    parameter server that was up first then ends the chief at its first step.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As `tf.distribute.Server`; the environment's GRPC_FAIL_FAST, if set, goes first."""
        os.environ.setdefault(_FAIL_FAST, "false")
        super().__init__(*args, **kwargs)
