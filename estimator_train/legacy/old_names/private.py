"""Private modules and names of TensorFlow that old scripts import and that have moved.

This package itself does not import these.
"""

from collections.abc import Callable
from typing import Any

ROOT = "tensorflow.python"
KERAS = f"{ROOT}.keras"
_V1 = "tensorflow:compat.v1"
_TPU = "estimator_train.tpu"
_DATA_OPS = f"{ROOT}.data.experimental.ops"
_CELLS = (
    f"{_V1}.nn.rnn_cell",
    "tf_keras.src.layers.rnn.legacy_cells",
    f"{ROOT}.ops.rnn_cell_impl",
)
_LAYERS = ("base", "convolutional", "core", "layers", "normalization", "pooling")
_OPTIMIZERS = "tf_keras.src.optimizers.legacy"
_TRACKABLE = (f"{ROOT}.trackable",)
_TRACKING = {
    "graph_view": (f"{ROOT}.checkpoint.graph_view",),
    "tracking": (f"{ROOT}.trackable.autotrackable", f"{ROOT}.trackable.resource"),
    "util": (f"{ROOT}.checkpoint.checkpoint", f"{ROOT}.checkpoint.util"),
}
# Removed modules of Keras, by package. `moved.py` searches all of Keras for their names.
_KERAS_MODULES = {
    "": "model_subclassing_test_util ops optimizer_v1 premade wrappers",
    ".distribute": "multi_worker_training_state",
    ".engine": (
        "training_arrays training_distributed training_eager training_generator training_v2 "
        "training_v2_utils"
    ),
    ".initializers": "initializers_v2",
    ".layers": (
        "advanced_activations convolutional_recurrent cudnn_recurrent dense_attention embeddings "
        "legacy_rnn local merge normalization_v2 recurrent recurrent_v2 rnn_cell_wrapper_v2 "
        "wrappers"
    ),
    ".layers.legacy_rnn": "rnn_cell_impl rnn_cell_wrapper_impl",
    ".mixed_precision": "get_layer_policy loss_scale",
    ".mixed_precision.experimental": "autocast_variable loss_scale_optimizer test_util",
    ".premade": "linear wide_deep",
    ".saving": "saved_model_experimental",
    ".saving.saved_model": "load_context",
    ".utils": "all_utils multi_gpu_utils",
    ".wrappers": "scikit_learn",
}
_KERAS_SAVING = ("hdf5_format", "model_config", "save", "saved_model", "saving_utils")

MODULES: dict[str, tuple[str, ...]] = {
    ROOT: (ROOT,),
    f"{ROOT}.layers": (f"{_V1}.layers",),
    **{
        f"{ROOT}.layers.{name}": (f"{_V1}.layers", f"tf_keras.src.legacy_tf_layers.{name}")
        for name in _LAYERS
        if name != "layers"
    },
    f"{ROOT}.layers.layers": (f"{_V1}.layers",),
    f"{ROOT}.layers.utils": (f"{ROOT}.layers.utils", "tf_keras:utils"),
    f"{ROOT}.ops.rnn_cell": _CELLS,
    f"{ROOT}.ops.rnn_cell_impl": _CELLS,
    f"{ROOT}.ops.rnn_cell_wrapper_impl": (
        f"{_V1}.nn.rnn_cell",
        "tf_keras.src.layers.rnn.legacy_cell_wrappers",
    ),
    f"{ROOT}.training.learning_rate_decay": (f"{_V1}.train",),
    f"{ROOT}.training.training_ops": (f"{ROOT}.ops.gen_training_ops",),
    f"{ROOT}.training.gen_training_ops": (f"{ROOT}.ops.gen_training_ops",),
    f"{ROOT}.training.distribution_strategy_context": (f"{ROOT}.distribute.distribute_lib",),
    f"{ROOT}.distribute.distribution_strategy_context": (f"{ROOT}.distribute.distribute_lib",),
    f"{ROOT}.training.tracking": _TRACKABLE,
    f"{ROOT}.training.checkpointable": _TRACKABLE,
    **{
        f"{ROOT}.training.{folder}.{name}": behind
        for folder in ("tracking", "checkpointable")
        for name, behind in _TRACKING.items()
    },
    f"{ROOT}.training.saving.functional_saver": (f"{ROOT}.checkpoint.functional_saver",),
    f"{ROOT}.feature_column.dense_features": ("tf_keras.src.feature_column.dense_features",),
    f"{ROOT}.feature_column.dense_features_v2": ("tf_keras.src.feature_column.dense_features_v2",),
    f"{ROOT}.feature_column.sequence_feature_column": (
        f"{ROOT}.feature_column.sequence_feature_column",
        "tf_keras.src.feature_column.sequence_feature_column",
    ),
    f"{ROOT}.ops.losses.loss_reduction": (f"{_V1}.losses",),
    f"{ROOT}.eager.execution_callbacks": (),
    f"{ROOT}.framework.tensor_like": (),
    f"{ROOT}.distribute.estimator_training": ("estimator_train.legacy.private.estimator_training",),
    f"{ROOT}.framework.composite_tensor_utils": (),
    f"{ROOT}.pywrap_tensorflow_internal": (),
    f"{ROOT}.saved_model.load_context": (f"{ROOT}.distribute.load_context",),
    f"{_DATA_OPS}.threadpool": ("tf_contrib.data",),
    **{
        f"{_DATA_OPS}.{name}_options": ("tensorflow:data", "tensorflow:data.experimental")
        for name in ("distribute", "optimization", "threading")
    },
    f"{ROOT}.tpu.tpu_config": (_TPU,),
    f"{ROOT}.tpu.tpu_context": (_TPU,),
    f"{ROOT}.tpu.tpu_estimator": (_TPU, "estimator_train.legacy.private.jobs", "tf_contrib.tpu"),
    f"{ROOT}.tpu.tpu_embedding": (),
    f"{ROOT}.tpu.async_checkpoint": (),
    f"{ROOT}.tpu.session_support": (),
    # TensorFlow's own copy of Keras is not used: `model_to_estimator` rejects its models.
    KERAS: ("tensorflow:keras", "tf_keras.src"),
    f"{KERAS}.optimizer_v2": (_OPTIMIZERS,),
    f"{KERAS}.optimizer_v2.learning_rate_schedule": ("tensorflow:keras.optimizers.schedules",),
    f"{KERAS}.optimizer_v2.legacy_learning_rate_decay": (f"{_V1}.train",),
    **{
        f"{KERAS}{package}.{name}": ()
        for package, names in _KERAS_MODULES.items()
        for name in names.split()
    },
    f"{KERAS}.engine.network": ("estimator_train.legacy.old_names.keras_shapes",),
    **{f"{KERAS}.saving.{name}": (f"tf_keras.src.saving.legacy.{name}",) for name in _KERAS_SAVING},
    f"{KERAS}.keras_parameterized": ("tf_keras.src.testing_infra.test_combinations",),
    f"{KERAS}.combinations": ("tf_keras.src.testing_infra.test_combinations",),
    f"{KERAS}.testing_utils": ("tf_keras.src.testing_infra.test_utils",),
    f"{KERAS}.mixed_precision.experimental.policy": (
        "estimator_train.legacy.old_names.mixed_precision",
        "tf_keras.src.mixed_precision.policy",
    ),
}
_COLUMNS = f"{ROOT}.feature_column.feature_column"
_COLUMN_CLASSES = [
    "BucketizedColumn",
    "CrossedColumn",
    "EmbeddingColumn",
    "HashedCategoricalColumn",
    "IdentityCategoricalColumn",
    "IndicatorColumn",
    "NumericColumn",
    "SharedEmbeddingColumn",
    "VocabularyFileCategoricalColumn",
    "VocabularyListCategoricalColumn",
    "WeightedCategoricalColumn",
]
# Maps the current names of layers to their removed aliases.
_LAYER_NAMES = {
    "convolutional": {
        "Conv1D": "Convolution1D",
        "Conv2D": "Convolution2D",
        "Conv3D": "Convolution3D",
        "Conv2DTranspose": "Convolution2DTranspose Deconvolution2D Deconv2D",
        "Conv3DTranspose": "Convolution3DTranspose Deconvolution3D Deconv3D",
        "SeparableConv2D": "SeparableConvolution2D",
        "conv1d": "convolution1d",
        "conv2d": "convolution2d",
        "conv3d": "convolution3d",
        "conv2d_transpose": "convolution2d_transpose deconvolution2d deconv2d",
        "conv3d_transpose": "convolution3d_transpose deconvolution3d deconv3d",
        "separable_conv2d": "separable_convolution2d",
    },
    "core": {"Dense": "FullyConnected", "dense": "fully_connected"},
    "normalization": {"BatchNormalization": "BatchNorm", "batch_normalization": "batch_norm"},
    "pooling": {"AveragePooling2D": "AvgPool2D", "MaxPooling2D": "MaxPool2D"},
}
_CONV_UTILS = "tf_keras.src.utils.conv_utils"
# Maps removed names of modules of `tensorflow.python.framework` to those of `registries`.
_REGISTRIES = {
    "ops.RegisterShape": "RegisterShape",
    "ops._shape_registry": "shape_registry",
    "ops._set_call_cpp_shape_fn": "set_call_cpp_shape_fn",
    "ops.register_dense_tensor_like_type": "register_dense_tensor_like_type",
    "op_def_registry.get_registered_ops": "get_registered_ops",
    "op_def_registry.register_op_list": "register_op_list",
    "op_def_library.OpDefLibrary": "OpDefLibrary",
    **{
        f"common_shapes.{name}": name
        for name in ("call_cpp_shape_fn", "scalar_shape", "unchanged_shape", "unknown_shape")
    },
}
NAMES: dict[str, str | Callable[[], Any]] = {
    # Classes of the columns that tf.feature_column makes: scripts use them in `isinstance`.
    **{
        f"{module}._{name}": f"{_COLUMNS}_v2:{name}"
        for name in _COLUMN_CLASSES
        for module in (_COLUMNS, f"{_COLUMNS}_lib")
    },
    **{
        f"{_COLUMNS}_lib.{name}": f"tf_keras.src.feature_column.{module}:{name}"
        for name, module in (
            ("DenseFeatures", "dense_features"),
            ("SequenceFeatures", "sequence_feature_column"),
        )
    },
    f"{_COLUMNS}_v2.FeatureColumn": "tensorflow:__internal__.feature_column.FeatureColumn",
    **{
        f"{ROOT}.layers.{module}.{old}": f"{_V1}.layers.{new}"
        for module, names in _LAYER_NAMES.items()
        for new, olds in names.items()
        for old in olds.split()
    },
    f"{ROOT}.util.nest.is_sequence": "tensorflow:nest.is_nested",
    f"{ROOT}.util.nest.is_sequence_or_composite": "tensorflow:nest.is_nested",
    f"{ROOT}.data.util.nest.is_sequence": "tensorflow:nest.is_nested",
    f"{ROOT}.ops.variable_scope.variable": f"{_V1}.Variable",
    f"{ROOT}.ops.variables.VariableV1": f"{_V1}.Variable",
    f"{ROOT}.ops.variable_scope.default_variable_creator": (
        f"{ROOT}.ops.variable_v1:default_variable_creator"
    ),
    f"{ROOT}.ops.losses.loss_reduction.ReductionV2": "tensorflow:keras.losses.Reduction",
    f"{ROOT}.training.experimental.mixed_precision.enable_mixed_precision_graph_rewrite": (
        f"{_V1}.mixed_precision.enable_mixed_precision_graph_rewrite"
    ),
    f"{ROOT}.util.tf_export.estimator_export": f"{ROOT}.util.tf_export:tf_export",
    f"{ROOT}.framework.graph_util_impl.convert_variables_to_constants": (
        f"{_V1}.graph_util.convert_variables_to_constants"
    ),
    f"{ROOT}.eager.tape.stop_recording": f"{ROOT}.eager.record:stop_recording",
    f"{ROOT}.eager.tape.record_operation": f"{ROOT}.eager.record:record_operation",
    f"{ROOT}.distribute.parameter_server_strategy.ParameterServerStrategy": (
        f"{_V1}.distribute.experimental.ParameterServerStrategy"
    ),
    **{
        f"{ROOT}.framework.{old}": f"estimator_train.legacy.private.registries:{new}"
        for old, new in _REGISTRIES.items()
    },
    # Names that have lost their underscore.
    f"{ROOT}.eager.backprop._record_gradient": f"{ROOT}.eager.backprop:record_gradient",
    f"{ROOT}.saved_model.loader_impl._parse_saved_model": (
        f"{ROOT}.saved_model.loader_impl:parse_saved_model"
    ),
    f"{ROOT}.saved_model.loader_impl._get_asset_tensors": (
        f"{ROOT}.saved_model.loader_impl:get_asset_tensors"
    ),
    f"{ROOT}.util.nest._same_namedtuples": f"{ROOT}.util.nest:same_namedtuples",
    f"{KERAS}.preprocessing.sequence.pad_sequences": "tf_keras:utils.pad_sequences",
    f"{KERAS}.utils.conv_utils.normalize_tuple": f"{_CONV_UTILS}:normalize_tuple",
}
