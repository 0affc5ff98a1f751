"""Modules of tf.keras that were public in TensorFlow 1 or in early versions of TensorFlow 2."""

_ROOTS = ("tensorflow.keras", "tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras")
_BACKING = ("estimator_train.legacy.trees.mixed_precision",)
_MIXED = "mixed_precision.experimental"
MODULES: dict[str, tuple[str, ...]] = {
    "keras": ("tf_keras",),
    **{f"{root}.{_MIXED}": _BACKING for root in _ROOTS},
    "tensorflow.python.keras.mixed_precision.experimental": _BACKING,
}
