"""The construction of an Estimator: checks of its class, its configuration, and its cluster."""

import dataclasses
import os
import tempfile

import tensorflow as tf

from estimator_train import cluster, remote
from estimator_train.cluster import Cluster
from estimator_train.cluster.variables import read_number
from estimator_train.engine.together.strategies import is_multi_worker
from estimator_train.engine.types import Strategy
from estimator_train.run_config import RunConfig
from estimator_train.run_config.setting_values import merge_session_config

_LOG = tf.get_logger()
_PARAMETER_SERVER = (
    tf.distribute.experimental.ParameterServerStrategy,
    tf.compat.v1.distribute.experimental.ParameterServerStrategy,
)
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


def complete_config(
    config: RunConfig | None, model_dir: str | os.PathLike[str] | None
) -> RunConfig:
    """Returns the configuration with a model_dir and a session configuration filled in.

    Args:
      config: A RunConfig, or None for the default one.
      model_dir: The directory to use; None: that of the config, or a temporary one.

    Raises:
      ValueError: config is not a RunConfig, or has another model_dir.
    """
    if config is None:
        _LOG.info("Using default config.")
        config = RunConfig()
    elif not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    given = os.fspath(model_dir) if model_dir else None
    if given and config.model_dir and given != config.model_dir:
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{given}', in `RunConfig`: '{config.model_dir}' "
        )
    chosen = given or config.model_dir
    if not chosen:
        chosen = tempfile.mkdtemp()
        _LOG.warning("Using temporary folder as model directory: %s", chosen)
    if ":/" in chosen:
        remote.prepare_path(chosen, "model_dir")
    config = resolve_cluster(config)
    filters = () if config.train_distribute else config.device_filters
    session_config = merge_session_config(config.session_config, filters)
    return config.replace(model_dir=chosen, session_config=session_config)


def resolve_cluster(config: RunConfig) -> RunConfig:
    """Returns the configuration with this process's task in the cluster of its strategy.

    ParameterServerStrategy is removed: asynchronous training needs no strategy in the graph.

    Args:
      config: A RunConfig.

    Raises:
      ValueError: The strategy does not fit the cluster, or TF_CONFIG is wrong.
    """
    strategy = config.train_distribute
    if strategy is None:
        numbered = not config.cluster_spec and config.task_type != cluster.EVALUATOR
        if numbered and _requests_parameter_servers():
            return config.in_cluster(_detect_cluster(needs_chief=False))
        return config
    _check_has_its_gpus(strategy)
    synchronous = is_multi_worker(strategy)
    found = _remove_evaluators(_detect_cluster(needs_chief=not synchronous))
    if isinstance(strategy, _PARAMETER_SERVER):
        if found.jobs and not found.jobs.get(cluster.PS):
            raise ValueError(
                f"{_name(strategy)} keeps variables on tasks of the job `ps`, of which TF_CONFIG "
                "has none. Add one, or use MultiWorkerMirroredStrategy."
            )
        return config.replace(train_distribute=None).in_cluster(found)
    if synchronous:
        if found.jobs.get(cluster.PS):
            raise ValueError(
                f"{_name(strategy)} keeps variables on every worker, and TF_CONFIG has the job "
                "`ps`. Leave that out, or use ParameterServerStrategy."
            )
        return config.in_cluster(found)
    trainers = found.num_trainers
    if trainers > 1 and cluster.has_tf_config():
        raise ValueError(
            f"{_name(strategy)} trains in one process, and TF_CONFIG has {trainers} that train. "
            "Use MultiWorkerMirroredStrategy, or ParameterServerStrategy with a job `ps`."
        )
    return config.in_cluster(found) if found.is_evaluator else config


def _requests_parameter_servers() -> bool:
    name = "ESTIMATOR_TRAIN_PS"
    return name in os.environ and read_number(os.environ, name) > 0


def _detect_cluster(needs_chief: bool) -> cluster.Cluster:
    """Returns the cluster of this process; logs the platform that describes it, if it is in doubt.

    That of TF_CONFIG is not, unless there are variables of another platform.
    """
    found = cluster.detect(needs_chief=needs_chief)
    if found.unused_platforms or (found.jobs and not cluster.has_tf_config()):
        unused = " and ".join(found.unused_platforms)
        _LOG.info(
            "Cluster of %s%s: this is %s:%d at %s.",
            found.platform,
            f", although variables of {unused} are set too" if unused else "",
            found.task_type,
            found.task_id,
            found.jobs.get(found.task_type, {}).get(found.task_id, "no address"),
        )
    return found


def _check_has_its_gpus(strategy: Strategy) -> None:
    """Raises ValueError if a GPU is missing: sessions would use the CPU without a message."""
    devices = [tf.DeviceSpec.from_string(name) for name in strategy.extended.worker_devices]
    wanted = sorted(d.device_index or 0 for d in devices if d.device_type == "GPU")
    present = len(tf.config.list_logical_devices("GPU")) if wanted else 0
    if wanted and wanted[-1] >= present:
        raise ValueError(
            f"{_name(strategy)} is to train on GPU {wanted[-1]}, and TensorFlow finds {present} "
            "GPUs on this machine, counted from 0."
        )


def _remove_evaluators(found: Cluster) -> Cluster:
    """Returns the cluster without evaluators, which some programs list in it."""
    jobs = {job: tasks for job, tasks in found.jobs.items() if job != cluster.EVALUATOR}
    return dataclasses.replace(found, jobs=jobs)


def _name(strategy: Strategy) -> str:
    return type(strategy).__name__.removesuffix("V1").removesuffix("V2")


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
    """Returns whether a class belongs to this project, which may override members for its needs."""
    return cls.__module__.split(".")[0] in ("estimator_train", "tf_contrib")
