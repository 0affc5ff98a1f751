"""Modules of TensorFlow 1.15's `tf.contrib` that have no folder in `tf_contrib`, and names.

The names are those of objects that TensorFlow still has elsewhere.
"""

# Maps packages of tf.contrib to their modules, except those whose path contains `python`.
_NAMES = {
    "": (
        "all_reduce batching bayesflow bigtable boosted_trees checkpoint "
        "constrained_optimization copy_graph decision_trees ffmpeg "
        "fused_conv grid_rnn hadoop ignite input_pipeline integrate kafka "
        "kinesis labeled_tensor libsvm "
        "meta_graph_transform nearest_neighbor "
        "periodic_resample proto quantization quantize receptive_field recurrent "
        "reduce_slice_ops remote_fused_graph rpc session_bundle solvers "
        "specs stat_summarizer stateless tensor_forest tensorrt testing text"
    ),
    "bigtable": "ops",
    "bigtable.ops": "gen_bigtable_ops",
    "decision_trees": "proto",
    "decision_trees.proto": "generic_tree_model_pb2",
    "ffmpeg": "ffmpeg_ops ops",
    "ffmpeg.ops": "gen_decode_audio_op_py gen_decode_video_op_py gen_encode_audio_op_py",
    "fused_conv": "ops",
    "fused_conv.ops": "gen_fused_conv2d_bias_activation_op",
    "image": "ops",
    "image.ops": "gen_distort_image_ops gen_image_ops gen_single_image_random_dot_stereograms_ops",
    "input_pipeline": "ops",
    "input_pipeline.ops": "gen_input_pipeline_ops",
    "layers": "ops",
    "layers.ops": "gen_sparse_feature_cross_op",
    "libsvm": "ops",
    "libsvm.ops": "gen_libsvm_ops",
    "lookup": "lookup_ops",
    "memory_stats": "ops",
    "memory_stats.ops": "gen_memory_stats_ops",
    "meta_graph_transform": "meta_graph_transform",
    "predictor": (
        "contrib_estimator_predictor core_estimator_predictor predictor predictor_factories "
        "saved_model_predictor"
    ),
    "receptive_field": "receptive_field_api",
    "reduce_slice_ops": "ops",
    "reduce_slice_ops.ops": "gen_reduce_slice_ops",
    "remote_fused_graph": "pylib",
    "resampler": "ops",
    "resampler.ops": "gen_resampler_ops",
    "seq2seq": "ops",
    "seq2seq.ops": "gen_beam_search_ops",
    "session_bundle": "constants exporter gc manifest_pb2",
    "slim": "nets",
    "summary": "summary",
    "tensor_forest": "client proto",
    "tensor_forest.client": "eval_metrics random_forest",
    "tensor_forest.proto": "fertile_stats_pb2 tensor_forest_params_pb2",
    "tensorboard": "plugins",
    "tensorboard.plugins": "projector",
    "tensorboard.plugins.projector": "projector_config_pb2",
    "util": "loader",
}
ROOT = "tensorflow.contrib"
# Programs import these modules; their names raise an error at the first use.
EMPTY_MODULES = frozenset(
    ".".join(filter(None, (ROOT, package, name)))
    for package, names in _NAMES.items()
    for name in names.split()
)
_OPTIMIZERS = ("adadelta", "adagrad", "adam", "gradient_descent", "momentum", "rmsprop")
# Modules whose names TensorFlow has kept elsewhere.
MODULES: dict[str, tuple[str, ...]] = {
    f"{ROOT}.autograph": ("tensorflow:compat.v1.autograph", "tensorflow:autograph.experimental"),
    f"{ROOT}.distributions": ("tf_contrib.distributions",),
    # The module has the name of a function in it.
    **{
        f"{ROOT}.estimator.python{name}": ("tf_contrib.estimator",)
        for name in ("", ".estimator", ".estimator.replicate_model_fn")
    },
    **{f"{ROOT}.keras.api{name}": ("tensorflow:compat.v1.keras",) for name in ("", ".keras")},
    f"{ROOT}.optimizer_v2": ("tensorflow:compat.v1.train",),
    **{f"{ROOT}.optimizer_v2.{name}": ("tensorflow:compat.v1.train",) for name in _OPTIMIZERS},
    f"{ROOT}.signal": ("tensorflow:compat.v1.signal",),
    f"{ROOT}.staging": ("tensorflow.python.ops.data_flow_ops",),
}
_FRAMEWORK = "tensorflow.python.framework"
_KEPT = {
    "framework": {
        "BoundedTensorSpec": f"{_FRAMEWORK}.tensor_spec:BoundedTensorSpec",
        "RecordInput": "tensorflow.python.ops.data_flow_ops:RecordInput",
        "TensorSpec": "tensorflow:TensorSpec",
        "convert_to_tensor_or_sparse_tensor": (
            "tensorflow:compat.v1.convert_to_tensor_or_sparse_tensor"
        ),
        "prepend_name_scope": f"{_FRAMEWORK}.ops:prepend_name_scope",
        "smart_case": f"{_FRAMEWORK}.smart_cond:smart_case",
        "smart_cond": f"{_FRAMEWORK}.smart_cond:smart_cond",
        "smart_constant_value": f"{_FRAMEWORK}.smart_cond:smart_constant_value",
        "strip_name_scope": f"{_FRAMEWORK}.ops:strip_name_scope",
    },
    "lookup": {
        name: f"tensorflow.python.ops.lookup_ops:{name}"
        for name in ("InitializableLookupTableBase", "LookupInterface", "TableInitializerBase")
    },
    "metrics": {
        f"set_{name}": f"tensorflow:sets.{name}"
        for name in ("difference", "intersection", "size", "union")
    },
    "checkpoint": {
        "CheckpointableBase": "tensorflow.python.trackable.base:Trackable",
        "CheckpointableObjectGraph": (
            "tensorflow.core.protobuf.trackable_object_graph_pb2:TrackableObjectGraph"
        ),
        "PythonStateWrapper": "tensorflow.python.trackable.python_state:PythonState",
        "CheckpointManager": "tensorflow:train.CheckpointManager",
        "Checkpointable": "tensorflow.python.trackable.autotrackable:AutoTrackable",
        "List": "tensorflow.python.trackable.data_structures:List",
        "Mapping": "tensorflow.python.trackable.data_structures:Mapping",
        "NoDependency": "tensorflow.python.trackable.data_structures:NoDependency",
    },
    "tpu": {
        "core": "tensorflow:compat.v1.tpu.core",
        "outside_compilation": "tensorflow:compat.v1.tpu.outside_compilation",
        "repeat": "tensorflow.python.tpu.training_loop:repeat",
        "replicate": "tensorflow:compat.v1.tpu.replicate",
        "while_loop": "tensorflow.python.tpu.training_loop:while_loop",
    },
    "distribute": {
        "initialize_tpu_system": "tensorflow:tpu.experimental.initialize_tpu_system",
    },
    "eager": {"Checkpointable": "tensorflow.python.trackable.autotrackable:AutoTrackable"},
    "summary": {"graph": "tensorflow.python.ops.summary_ops_v2:graph"},
    "util": {
        "ops_used_by_graph_def": ("tensorflow.python.framework.meta_graph:ops_used_by_graph_def"),
        "stripped_op_list_for_graph": (
            "tensorflow.python.framework.meta_graph:stripped_op_list_for_graph"
        ),
    },
}
# Names that private modules of TensorFlow still have: module of tf.contrib, private module, names.
_PRIVATE = (
    (
        "autograph",
        "autograph.impl.api",
        "AutoGraphError StackTraceMapper convert converted_call",
    ),
    ("autograph", "autograph.core.converter", "ConversionOptions"),
    ("autograph", "autograph.lang.directives", "set_element_type"),
    ("autograph", "autograph.lang.special_functions", "stack"),
    ("batching", "ops.batch_ops", "batch_function"),
    (
        "checkpoint",
        "checkpoint.checkpoint",
        "capture_dependencies list_objects object_metadata",
    ),
    ("compiler.xla", "compiler.xla.xla", "check_function_argument_count"),
    ("distribute", "distribute.step_fn", "StandardInputStep StandardSingleLossStep Step"),
    ("distribute", "distribute.tpu_strategy", "TPUStrategy"),
    ("distribute", "distribute.distribute_lib", "UpdateContext require_replica_context"),
    (
        "distribute",
        "distribute.distribute_coordinator",
        "run_standard_tensorflow_server",
    ),
    ("distributions", "ops.distributions.beta", "BetaWithSoftplusConcentration"),
    ("distributions", "ops.distributions.exponential", "ExponentialWithSoftplusRate"),
    ("distributions", "ops.distributions.gamma", "GammaWithSoftplusConcentrationRate"),
    ("distributions", "ops.distributions.laplace", "LaplaceWithSoftplusScale"),
    ("distributions", "ops.distributions.normal", "NormalWithSoftplusScale"),
    ("distributions", "ops.distributions.student_t", "StudentTWithAbsDfSoftplusScale"),
    ("distributions", "ops.distributions.util", "matrix_diag_transform tridiag"),
    ("distributions.bijectors", "ops.distributions.bijector_impl", "Bijector"),
    ("distributions.bijectors", "ops.distributions.identity_bijector", "Identity"),
    ("eager", "ops.variable_scope", "EagerVariableStore"),
    (
        "eager",
        "eager.context",
        "async_clear_error async_wait execution_mode set_execution_mode set_server_def",
    ),
    ("eager", "eager.remote", "connect_to_remote_host"),
    ("framework", "ops.init_ops", "convolutional_delta_orthogonal"),
    (
        "summary",
        "ops.summary_ops_v2",
        "SummaryWriter create_summary_file_writer eval_dir generic import_event",
    ),
    ("tpu", "tpu.device_assignment", "DeviceAssignment device_assignment"),
    ("tpu", "tpu.topology", "Topology"),
    ("tpu", "tpu.tpu_feed", "InfeedQueue"),
    ("tpu", "tpu.ops.tpu_ops", "infeed_dequeue infeed_dequeue_tuple"),
    (
        "tpu",
        "ops.gen_tpu_ops",
        "infeed_enqueue infeed_enqueue_tuple outfeed_dequeue outfeed_dequeue_tuple "
        "outfeed_enqueue outfeed_enqueue_tuple",
    ),
)
_RANDOM = "tensorflow:compat.v1.random"
NAMES = {
    **{
        f"{ROOT}.{module}.{name}": target
        for module, names in _KEPT.items()
        for name, target in names.items()
    },
    **{
        f"{ROOT}.{module}.{name}": f"tensorflow.python.{private}:{name}"
        for module, private, names in _PRIVATE
        for name in names.split()
    },
    f"{ROOT}.compiler.jit.experimental_jit_scope": "tensorflow:xla.experimental.jit_scope",
    f"{ROOT}.compiler.xla.compile": "tensorflow:xla.experimental.compile",
    f"{ROOT}.optimizer_v2.OptimizerV2": "tensorflow:compat.v1.train.Optimizer",
    f"{ROOT}.stateless.stateless_multinomial": f"{_RANDOM}.stateless_categorical",
    f"{ROOT}.stateless.stateless_random_normal": f"{_RANDOM}.stateless_normal",
    f"{ROOT}.stateless.stateless_random_uniform": f"{_RANDOM}.stateless_uniform",
    f"{ROOT}.stateless.stateless_truncated_normal": f"{_RANDOM}.stateless_truncated_normal",
}
