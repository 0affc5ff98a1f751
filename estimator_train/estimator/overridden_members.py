"""Which members of Estimator a subclass may override."""

import tensorflow as tf

_LOG = tf.get_logger()
# The public members that tf.estimator refuses to see overridden.
_REFUSED = frozenset(
    {
        "config",
        "eval_dir",
        "evaluate",
        "experimental_export_all_saved_models",
        "export_saved_model",
        "export_savedmodel",
        "get_variable_names",
        "get_variable_value",
        "model_dir",
        "params",
        "predict",
        "train",
    }
)
# Private members of tf.estimator's Estimator that this one has no counterpart of.
_WITHOUT_EFFECT = frozenset(
    {
        "_actual_eval",
        "_actual_train_model_distributed",
        "_add_meta_graph_for_mode",
        "_call_model_fn_eval",
        "_call_model_fn_eval_distributed",
        "_convert_eval_steps_to_hooks",
        "_evaluate_build_graph",
        "_evaluate_run",
        "_extract_batch_length",
        "_extract_keys",
        "_get_features_and_labels_from_input_fn",
        "_get_features_from_input_fn",
        "_get_iterator_from_input_fn",
        "_maybe_warm_start",
        "_train_model_default",
        "_train_model_distributed",
        "_train_with_estimator_spec",
        "_train_with_estimator_spec_distributed",
        "_validate_features_in_predict_input",
    }
)


def refuse_overridden_members(cls: type) -> None:
    """Checks that a class overrides no public member that tf.estimator does not let it override.

    Args:
      cls: The class of an estimator.

    Raises:
      ValueError: It overrides members.
    """
    overridden = sorted(_find_members_of_user(cls) & _REFUSED)
    if overridden:
        raise ValueError(
            "Subclasses of Estimator cannot override members of Estimator. "
            f"{cls} does override {overridden}"
        )


def warn_of_members_without_effect(cls: type) -> None:
    """Logs a warning that names the private members that a class overrides in vain.

    Args:
      cls: The class of an estimator.
    """
    overridden = sorted(_find_members_of_user(cls) & _WITHOUT_EFFECT)
    if overridden:
        _LOG.warning(
            "%s overrides %s, which estimator_train does not call. It calls _call_model_fn, "
            "_call_input_fn, _create_global_step, _train_model and _export_all_saved_models.",
            cls,
            overridden,
        )


def _find_members_of_user(cls: type) -> set[str]:
    """Returns the names that a class and its bases outside of this package define."""
    return {name for base in cls.__mro__ if not _is_ours(base) for name in vars(base)}


def _is_ours(cls: type) -> bool:
    """Returns whether a class belongs to this package, which may override members for its needs."""
    return cls.__module__.split(".")[0] == __name__.split(".")[0]
