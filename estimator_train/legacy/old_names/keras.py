"""Modules of Keras 2, of tf.keras and of the package `keras`, that old programs import."""

from estimator_train.legacy.old_names import private

PACKAGE = "keras"
_ROOTS = ("tensorflow.keras", "tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras")
_BACKING = ("estimator_train.legacy.old_names.mixed_precision",)
_V1_KERAS = "tensorflow:compat.v1.keras"
_BACKEND_MODULES = ("common", "load_backend", "tensorflow_backend")
_TENSORBOARD_MODULES = ("tensorboard_v1", "tensorboard_v2")
_MIXED = "mixed_precision.experimental"
MODULES: dict[str, tuple[str, ...]] = {
    PACKAGE: ("tf_keras", "tf_keras.src"),
    # The package `keras` had the modules of tensorflow.python.keras.
    **{
        PACKAGE + name.removeprefix(private.KERAS): backing
        for name, backing in private.MODULES.items()
        if name.startswith(f"{private.KERAS}.")
    },
    **{f"{PACKAGE}.backend.{name}": (f"{_V1_KERAS}.backend",) for name in _BACKEND_MODULES},
    **{f"{PACKAGE}.callbacks.{name}": (f"{_V1_KERAS}.callbacks",) for name in _TENSORBOARD_MODULES},
    f"{PACKAGE}.engine.topology": (
        "tf_keras.src.engine.base_layer",
        "tf_keras.src.engine.input_layer",
        "tf_keras.src.engine.input_spec",
        f"{_V1_KERAS}.utils",
    ),
    f"{PACKAGE}.legacy": (),
    f"{PACKAGE}.legacy.layers": (f"{_V1_KERAS}.layers",),
    f"{PACKAGE}.legacy.interfaces": ("estimator_train.legacy.old_names.keras_interfaces",),
    f"{PACKAGE}.objectives": (f"{_V1_KERAS}.losses",),
    **{f"{root}.{_MIXED}": _BACKING for root in _ROOTS},
    "tensorflow.python.keras.mixed_precision.experimental": _BACKING,
}
_REMOVED = "estimator_train.legacy.old_names.keras_removed"
_SAVED_MODELS = "tf_contrib.saved_model"
_REPLICAS = "estimator_train.legacy.old_names.keras_replicas:multi_gpu_model"
VERSIONS = tuple(f"{root}.__version__" for root in (*_ROOTS, private.KERAS))
NAMES = {
    **dict.fromkeys(VERSIONS, "tf_keras:__version__"),
    **{
        f"{root}.{path}": f"{_REMOVED}:{path.rpartition('.')[2]}"
        for root in (*_ROOTS, private.KERAS, PACKAGE)
        for path in (
            "utils.HDF5Matrix",
            "utils.io_utils.HDF5Matrix",
            "wrappers.scikit_learn.KerasClassifier",
            "wrappers.scikit_learn.KerasRegressor",
        )
    },
    **{
        f"{root}.experimental.{name}": f"{_SAVED_MODELS}:{target}"
        for root in _ROOTS
        for name, target in (
            ("export_saved_model", "save_keras_model"),
            ("load_from_saved_model", "load_keras_model"),
        )
    },
    **{f"{root}.utils.multi_gpu_model": _REPLICAS for root in (*_ROOTS, private.KERAS, PACKAGE)},
    **{
        f"{root}.utils.multi_gpu_utils.multi_gpu_model": _REPLICAS
        for root in (private.KERAS, PACKAGE)
    },
    **{
        f"{PACKAGE}.engine.topology.{name}": "estimator_train.legacy.old_names.keras_shapes:Network"
        for name in ("Container", "Network")
    },
}
