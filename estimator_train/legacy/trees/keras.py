"""Modules of tf.keras that were public in TensorFlow 1 or in early versions of TensorFlow 2."""

_ROOTS = ("tensorflow.keras", "tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras")
_BACKING = ("estimator_train.legacy.trees.mixed_precision",)
_MIXED = "mixed_precision.experimental"
MODULES: dict[str, tuple[str, ...]] = {
    "keras": ("tf_keras",),
    **{f"{root}.{_MIXED}": _BACKING for root in _ROOTS},
    "tensorflow.python.keras.mixed_precision.experimental": _BACKING,
}
_SAVED_MODELS = "estimator_train.legacy.contrib.saved_model"
_MODELS = {
    "experimental.export_saved_model": f"{_SAVED_MODELS}:save_keras_model",
    "experimental.load_from_saved_model": f"{_SAVED_MODELS}:load_keras_model",
    "utils.multi_gpu_model": "estimator_train.legacy.trees.keras_replicas:multi_gpu_model",
}
NAMES = {
    **{f"{root}.{name}": target for root in _ROOTS for name, target in _MODELS.items()},
    "tensorflow.python.keras.utils.multi_gpu_utils.multi_gpu_model": (
        _MODELS["utils.multi_gpu_model"]
    ),
    "tensorflow.python.keras.utils.multi_gpu_model": _MODELS["utils.multi_gpu_model"],
}
