"""Questions about arguments of functions and classes: their names, order and defaults."""

import tensorflow as tf
from asking import main, question, signature

contrib = tf.contrib


def signatures(module, *names):
    return {name: ", ".join(signature(getattr(module, name))) for name in names}


@question
def estimator_heads():
    return signatures(
        contrib.estimator,
        "binary_classification_head",
        "logistic_regression_head",
        "multi_class_head",
        "multi_head",
        "multi_label_head",
        "poisson_regression_head",
        "regression_head",
    )


@question
def estimator_functions():
    return signatures(
        contrib.estimator,
        "add_metrics",
        "build_raw_supervised_input_receiver_fn",
        "call_logit_fn",
        "clip_gradients_by_norm",
        "dnn_logit_fn_builder",
        "export_all_saved_models",
        "export_saved_model_for_mode",
        "forward_features",
        "linear_logit_fn_builder",
        "replicate_model_fn",
    )


@question
def estimator_classes():
    return signatures(
        contrib.estimator,
        "RNNClassifier",
        "RNNEstimator",
        "TowerOptimizer",
    )


@question
def summaries():
    return signatures(
        contrib.summary,
        "create_file_writer",
        "always_record_summaries",
        "never_record_summaries",
        "record_summaries_every_n_global_steps",
        "scalar",
        "histogram",
        "image",
        "audio",
        "all_summary_ops",
        "flush",
        "initialize",
    )


@question
def saved_models():
    return signatures(contrib.saved_model, "save_keras_model", "load_keras_model")


@question
def optimizers():
    return signatures(
        contrib.opt,
        "AdamWOptimizer",
        "MomentumWOptimizer",
        "LARSOptimizer",
        "MovingAverageOptimizer",
        "ScipyOptimizerInterface",
    )


@question
def cloud():
    return signatures(contrib.cloud, "configure_gcs", "ConfigureGcsHook")


@question
def eager():
    return signatures(contrib.eager, "num_gpus", "list_devices", "run")


if __name__ == "__main__":
    main()
