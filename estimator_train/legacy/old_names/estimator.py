"""All import paths of tf.estimator, and its inner modules that scripts import."""

PRIVATE_ROOTS = ("tensorflow.python.estimator", "tensorflow_estimator.python.estimator")
_V1 = "estimator_train.compat.v1"
_V2 = "estimator_train"
_PRIVATE_BACKING = (
    "estimator_train.legacy.private.utilities",
    _V1,
    f"{_V1}:inputs",
    f"{_V1}:export",
    f"{_V1}:experimental",
    f"{_V1}:tpu",
    f"{_V1}:keras",
    "estimator_train.heads.v1",
    "estimator_train.legacy.private.heads",
    "estimator_train.legacy.private.model_fns",
    "estimator_train.legacy.private.jobs",
    "estimator_train.legacy.private.tools",
    "estimator_train.training.exporters",
)
_TIMESERIES = "tf_contrib.timeseries"
# Inner modules of tf.estimator 1.15 and 2.15, by package. Each has the names of all others.
_INNER_MODULES = {
    "": (
        "boosted_trees canned dnn_with_layer_annotations early_stopping estimator "
        "estimator_export estimator_lib export export_lib exporter extenders head hooks inputs "
        "keras keras_lib logit_fns mode_keys model_fn multi_head replicate_model_fn rnn run_config "
        "saved_model_estimator tools tpu training util"
    ),
    ".canned": (
        "baseline boosted_trees boosted_trees_utils dnn dnn_linear_combined dnn_testing_utils head "
        "kmeans linear linear_optimizer linear_testing_utils metric_keys optimizers parsing_utils "
        "prediction_keys rnn saved_model_estimator timeseries v1"
    ),
    ".canned.linear_optimizer": "python",
    ".canned.linear_optimizer.python": "utils",
    ".canned.linear_optimizer.python.utils": "sdca_ops sharded_mutable_dense_hashtable",
    ".canned.v1": "dnn_testing_utils_v1 linear_testing_utils_v1",
    ".export": "export export_lib export_output function",
    ".head": (
        "base_head binary_class_head head_utils multi_class_head multi_head multi_label_head "
        "regression_head sequential_head"
    ),
    ".hooks": "basic_session_run_hooks fake_summary_writer hooks session_run_hook",
    ".inputs": "inputs numpy_io pandas_io queues",
    ".inputs.queues": "feeding_functions feeding_queue_runner",
    ".tools": "analytics checkpoint_converter",
    ".tpu": (
        "_tpu_estimator_embedding error_handling iteration_count_estimator tpu_config tpu_context "
        "tpu_estimator util"
    ),
}
_TIMESERIES_MODULES = (
    "ar_model estimators feature_keys head math_utils model model_utils saved_model_utils "
    "state_management"
)


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
        **_list_api_modules(),
    }
    for root in PRIVATE_ROOTS:
        found[root] = _PRIVATE_BACKING
        for package, inner in _INNER_MODULES.items():
            found |= {f"{root}{package}.{name}": _PRIVATE_BACKING for name in inner.split()}
        found |= {
            f"{root}.canned.timeseries.{name}": (_TIMESERIES,)
            for name in _TIMESERIES_MODULES.split()
        }
        found[f"{root}.gc"] = ("estimator_train.legacy.gc",)
    return found


def _list_api_modules() -> dict[str, tuple[str, ...]]:
    """Maps the modules of the public API of tensorflow_estimator 2.15 to their backing modules."""
    found: dict[str, tuple[str, ...]] = {}
    for root in ("tensorflow_estimator._api.", "tensorflow_estimator.python.estimator.api._"):
        for generation, backing in (("v1", _V1), ("v2", _V2)):
            found[f"{root}{generation}.estimator"] = (backing,)
            found[f"{root}{generation}.{generation}"] = ()
            found[f"{root}{generation}.{generation}.estimator"] = (backing,)
    return found


_KERAS_LIB = "tensorflow_estimator.python.estimator.keras_lib"
# Maps single names to their objects.
NAMES = {
    f"{_KERAS_LIB}.model_to_estimator": "estimator_train.compat.keras_lib:model_to_estimator",
    **{
        f"{root}.keras.model_to_estimator": f"{_V1}:keras.model_to_estimator"
        for root in PRIVATE_ROOTS
    },
    **{
        f"{root}.head.{module}.{name}": f"estimator_train.legacy.private.heads:{name}"
        for root in PRIVATE_ROOTS
        for module, name in (
            ("binary_class_head", "BinaryClassHead"),
            ("multi_class_head", "MultiClassHead"),
            ("multi_label_head", "MultiLabelHead"),
        )
    },
    **{
        f"{root}.gc._{name}": f"estimator_train.legacy.gc:{name}"
        for root in PRIVATE_ROOTS
        for name in (
            "get_paths",
            "largest_export_versions",
            "mod_export_version",
            "negation",
            "one_of_every_n_export_versions",
            "union",
        )
    },
    **{
        f"{root}.canned.kmeans.KMeansClustering": f"{_V2}:experimental.KMeans"
        for root in PRIVATE_ROOTS
    },
    **{
        f"{root}.tpu.tpu_estimator.{name}": f"tf_contrib.tpu:{name}"
        for root in PRIVATE_ROOTS
        for name in ("BatchConfig", "ExportSavedModelApiVersion")
    },
    **{f"{root}.estimator.EstimatorV2": f"{_V2}:Estimator" for root in PRIVATE_ROOTS},
}
