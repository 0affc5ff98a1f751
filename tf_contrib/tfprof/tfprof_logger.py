"""Stand-in for `tf.contrib.tfprof.tfprof_logger`."""

import tensorflow as tf

write_op_log = tf.compat.v1.profiler.write_op_log
