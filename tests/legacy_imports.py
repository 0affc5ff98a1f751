"""What `estimator_train.legacy` imports from the core, and where the core imports `legacy`.

`legacy` is an annex: the core works without the folder. `test_house.py` compares these tables with
the sources.
"""

# Modules whose names are public: `legacy` and `tf_contrib` may import every name that has no
# leading underscore.
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
    "estimator_train.bootstrap.start_up": ("drop_second_lines hide_loading_lines pause_collection"),
    "estimator_train.canned.models": "Deep Linear",
    "estimator_train.canned.arguments": "KerasChoice V1Choice make_classifier_head",
    "estimator_train.canned.specs": (
        "TrainedPart dnn_logit_fn_builder linear_logit_fn_builder make_model_fn make_v1_model_fn"
    ),
    "estimator_train.compat.keras_lib": "model_to_estimator",
    "estimator_train.engine.tf_internals.graphs": "list_definitions",
    "estimator_train.export.receivers": (
        "SupervisedInputReceiver build_raw_supervised_input_receiver_fn"
    ),
    "estimator_train.heads.base": "add_head_name",
    "estimator_train.heads.keys": (
        "Labels MetricKeys Optimizer PredictionKeys TensorLike WeightColumn"
    ),
    "estimator_train.heads.classification": "Classes",
    "estimator_train.heads.training": "build_train_op",
    "estimator_train.training.eval_metrics": "read_eval_metrics",
}

# The files outside `legacy` that import it, each after `compat.require_legacy` or `has_legacy`.
ENTRANCES = {
    "estimator_train.cli.commands.old_programs",
    "estimator_train.compat",
    "estimator_train.shim.modules",
}
