"""TensorFlow servers for clusters whose processes start in any order."""

import os
from typing import Any

import tensorflow as tf

# TensorFlow reads this variable at each remote call.
_FAIL_FAST = "GRPC_FAIL_FAST"


class Server(tf.distribute.Server):
    """`tf.train.Server` of TensorFlow 1, whose remote calls wait for processes that start later.

    In TensorFlow 2 a call fails if its target was not listening when it was first contacted: if a
    parameter server starts before the chief, the chief's first step fails.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes the arguments of `tf.distribute.Server`; an existing GRPC_FAIL_FAST is kept."""
        os.environ.setdefault(_FAIL_FAST, "false")
        super().__init__(*args, **kwargs)
