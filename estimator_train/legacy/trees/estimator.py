"""tf.estimator under all its names, and the modules inside it that scripts import."""

_INSIDES = ("tensorflow.python.estimator", "tensorflow_estimator.python.estimator")
_V1 = "estimator_train.compat.v1"
_V2 = "estimator_train"
_BEHIND_INSIDES = (
    "estimator_train.legacy.insides",
    _V1,
    f"{_V1}:inputs",
    f"{_V1}:export",
    f"{_V1}:experimental",
    f"{_V1}:tpu",
    f"{_V1}:keras",
    "estimator_train.heads.v1",
)
# Modules inside tf.estimator that scripts import, by their packages; each has the names of all of
# them here.
_INNER_MODULES = {
    "": (
        "canned early_stopping estimator estimator_export estimator_lib export export_lib exporter "
        "extenders head hooks inputs keras keras_lib mode_keys model_fn run_config tpu training "
        "util"
    ),
    ".canned": (
        "baseline dnn dnn_linear_combined head linear metric_keys optimizers parsing_utils "
        "prediction_keys rnn"
    ),
    ".export": "export export_lib export_output function",
    ".head": "base_head binary_class_head multi_class_head regression_head",
    ".hooks": "basic_session_run_hooks hooks session_run_hook",
    ".inputs": "inputs numpy_io pandas_io queues",
    ".tpu": "tpu_config tpu_context tpu_estimator",
}


def modules(default: str) -> dict[str, tuple[str, ...]]:
    """Names of modules to the modules behind them.

    Args:
      default: "v1" or "v2": which of them `tf.estimator` is.
    """
    ours = (_V1,) if default == "v1" else (_V2,)
    found: dict[str, tuple[str, ...]] = {
        "tensorflow.estimator": ours,
        "tensorflow.compat.v1.estimator": (_V1,),
        "tensorflow.compat.v2.estimator": (_V2,),
        "tensorflow_estimator": ours,
        "tensorflow_estimator.estimator": ours,
        "tensorflow_estimator.compat.v1.estimator": (_V1,),
        "tensorflow_estimator.compat.v2.estimator": (_V2,),
        "tensorflow_estimator.python": (),
    }
    for root in _INSIDES:
        found[root] = _BEHIND_INSIDES
        for package, inner in _INNER_MODULES.items():
            found |= {f"{root}{package}.{name}": _BEHIND_INSIDES for name in inner.split()}
        found[f"{root}.gc"] = ("estimator_train.legacy.gc",)
    return found


# Dotted names of single objects.
NAMES = {
    **{f"{root}.keras.model_to_estimator": f"{_V1}:keras.model_to_estimator" for root in _INSIDES},
    **{f"{root}.estimator.EstimatorV2": f"{_V2}:Estimator" for root in _INSIDES},
}
