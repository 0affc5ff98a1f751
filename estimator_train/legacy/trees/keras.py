"""Names of tf.keras that were public in TensorFlow 1 or the first ones of TensorFlow 2."""

_ROOTS = ("tensorflow.keras", "tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras")
_OURS = "estimator_train.legacy.trees"
_MIXED = "mixed_precision.experimental"
MODULES: dict[str, tuple[str, ...]] = {
    "keras": ("tf_keras",),
    **{f"{root}.{_MIXED}": (f"{_OURS}.mixed_precision",) for root in _ROOTS},
    "tensorflow.python.keras.mixed_precision.experimental": (f"{_OURS}.mixed_precision",),
}
