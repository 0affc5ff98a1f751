"""All import paths of tf.estimator, and its inner modules that scripts import."""

PRIVATE_ROOTS = ("tensorflow.python.estimator", "tensorflow_estimator.python.estimator")
_V1 = "estimator_train.compat.v1"
_V2 = "estimator_train"
_PRIVATE_BACKING = (
    "estimator_train.legacy.insides",
    _V1,
    f"{_V1}:inputs",
    f"{_V1}:export",
    f"{_V1}:experimental",
    f"{_V1}:tpu",
    f"{_V1}:keras",
    "estimator_train.heads.v1",
)
# Inner modules of tf.estimator that scripts import, by package. Each has the names of all others.
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
    """Maps the paths of modules to their backing modules.

    Args:
      default: "v1" or "v2", the meaning of `tf.estimator`.
    """
    backing = (_V1,) if default == "v1" else (_V2,)
    found: dict[str, tuple[str, ...]] = {
        "tensorflow.estimator": backing,
        "tensorflow.compat.v1.estimator": (_V1,),
        "tensorflow.compat.v2.estimator": (_V2,),
        "tensorflow_estimator": backing,
        "tensorflow_estimator.estimator": backing,
        "tensorflow_estimator.compat.v1.estimator": (_V1,),
        "tensorflow_estimator.compat.v2.estimator": (_V2,),
        "tensorflow_estimator.python": (),
    }
    for root in PRIVATE_ROOTS:
        found[root] = _PRIVATE_BACKING
        for package, inner in _INNER_MODULES.items():
            found |= {f"{root}{package}.{name}": _PRIVATE_BACKING for name in inner.split()}
        found[f"{root}.gc"] = ("estimator_train.legacy.gc",)
    return found


# Maps single names to their objects.
NAMES = {
    **{
        f"{root}.keras.model_to_estimator": f"{_V1}:keras.model_to_estimator"
        for root in PRIVATE_ROOTS
    },
    **{f"{root}.estimator.EstimatorV2": f"{_V2}:Estimator" for root in PRIVATE_ROOTS},
}
