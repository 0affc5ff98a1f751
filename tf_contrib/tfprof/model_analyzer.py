"""Stand-in for `tf.contrib.tfprof.model_analyzer`: `tf.profiler` with its options of 2016."""

from typing import Any

import tensorflow as tf

_profiler = tf.compat.v1.profiler
Profiler = _profiler.Profiler
_COMMON: dict[str, Any] = {
    "max_depth": 10000,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": True,
    "output": "stdout",
    "dump_to_file": "",
}
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = {
    **_COMMON,
    "account_type_regexes": ["_trainable_variables"],
    "select": ["params"],
}
FLOAT_OPS_OPTIONS = {
    **_COMMON,
    "min_float_ops": 1,
    "order_by": "float_ops",
    "select": ["float_ops"],
}
PRINT_ALL_TIMING_MEMORY = {
    **_COMMON,
    "min_bytes": 1,
    "min_micros": 1,
    "select": ["micros", "bytes"],
}
ALL_ADVICE: dict[str, dict[str, Any]] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}


def print_model_analysis(
    graph: tf.Graph,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: dict[str, Any] | None = None,
) -> Any:
    """Prints and returns the counts of a graph; see `tf.compat.v1.profiler.profile`.

    Args:
      graph: Graph.
      run_meta: RunMetadata of a session's call.
      op_log: OpLogProto of the operations.
      tfprof_cmd: View: "scope", "graph", "op" or "code".
      tfprof_options: Options; by default the number of parameters of each variable.
    """
    options = tfprof_options or TRAINABLE_VARS_PARAMS_STAT_OPTIONS
    return _profiler.profile(graph, run_meta, op_log, tfprof_cmd, options)


def advise(
    graph: tf.Graph, run_meta: Any = None, tfprof_options: dict[str, Any] | None = None
) -> Any:
    """Prints and returns advice about a graph; see `tf.compat.v1.profiler.advise`.

    Args:
      graph: Graph.
      run_meta: RunMetadata of a session's call.
      tfprof_options: Options of each checker; by default those of all.
    """
    return _profiler.advise(graph, run_meta, tfprof_options or ALL_ADVICE)
