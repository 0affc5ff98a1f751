"""Stand-in for `tf.contrib.tfprof`: counts of parameters and operations of a graph."""

from tf_contrib.tfprof import (
    model_analyzer as model_analyzer,
    tfprof_logger as tfprof_logger,
)
