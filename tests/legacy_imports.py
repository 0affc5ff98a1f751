"""What `estimator_train.legacy` imports from the core, and where the core imports `legacy`.

`legacy` is an annex: the core works without the folder. `test_house.py` compares these tables with
the sources.
"""

# Modules whose names are public: `legacy` may import every name that has no leading underscore.
PUBLIC_MODULES = (
    "estimator_train",
    "estimator_train.compat.v1",
    "estimator_train.experimental",
    "estimator_train.export",
    "estimator_train.hooks",
    "estimator_train.keras",
    "estimator_train.predictor",
    "estimator_train.tpu",
)

# Other modules that `legacy` imports, with all of their names.
OTHER_MODULES = (
    "estimator_train.bootstrap.import_hook",
    "estimator_train.heads.checks",
    "estimator_train.heads.losses",
    "estimator_train.heads.sequential",
    "estimator_train.heads.v1",
    "estimator_train.training.exporters",
)

# Single names that `legacy` imports from other modules.
OTHER_NAMES = {
    "estimator_train.bootstrap.collection": "pause_collection",
    "estimator_train.canned.parts.columns": "Batch",
    "estimator_train.canned.parts.logit_fns": (
        "call_logit_fn dnn_logit_fn_builder linear_logit_fn_builder"
    ),
    "estimator_train.canned.parts.default_heads": "make_classifier_head",
    "estimator_train.canned.parts.kmeans_steps": "Clusters",
    "estimator_train.canned.parts.lookups": "Ids",
    "estimator_train.canned.parts.models": "Deep Linear LinearModel",
    "estimator_train.canned.parts.optimizer_arguments": "KerasChoice V1Choice",
    "estimator_train.canned.parts.sdca_steps": "Settings build_train_op",
    "estimator_train.canned.parts.specs": "TrainedPart make_model_fn make_v1_model_fn",
    "estimator_train.canned.rnn": "CLIP_NORM LEARNING_RATE USE_DEFAULT",
    "estimator_train.compat.keras_lib": "model_to_estimator",
    "estimator_train.engine.run.evaluate": "get_or_create_eval_step",
    "estimator_train.engine.tf_internals.graph_edits": "drop_control_inputs run_after set_input",
    "estimator_train.engine.tf_internals.saver_entries": "CheckpointEntry",
    "estimator_train.engine.user_functions": "list_argument_names warn_of_missing_params",
    "estimator_train.estimator": "Estimator",
    "estimator_train.export.receivers": (
        "SupervisedInputReceiver build_raw_supervised_input_receiver_fn"
    ),
    "estimator_train.export.saved_model": "choose_export_dir get_temporary_dir",
    "estimator_train.heads.base": "Metrics add_head_name",
    "estimator_train.heads.classification": "Classes",
    "estimator_train.heads.keys": "MetricKeys PredictionKeys",
    "estimator_train.heads.training": "build_train_op",
    "estimator_train.heads.types": "Labels Optimizer TensorLike WeightColumn",
    "estimator_train.heads.weighted": "Batch WeightedHead",
    "estimator_train.lifecycle.preemption": "handle_preemption",
    "estimator_train.predictor.live": "make_output_getter open_estimator",
    "estimator_train.predictor.saved_model": "get_signature open_saved_model",
    "estimator_train.training.early_stopping.eval_metrics": "read_eval_metrics",
    "estimator_train.training.extenders": "add_metrics clip_gradients_by_norm forward_features",
}

# The files outside `legacy` that import it, each after `compat.require_legacy` or `has_legacy`.
ENTRANCES = {
    "estimator_train.cli.commands.check",
    "estimator_train.cli.commands.run",
    "estimator_train.compat",
    "estimator_train.shim.modules",
}
