"""Behaviours of building an Estimator and a RunConfig."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import tensorflow as tf
from cases import case, logged_case
from jobs import Api, tiny_estimator, tiny_input, tiny_model_fn, tiny_parts, trained


@case
def construct_without_model_fn(api: Api, model_dir: str) -> Any:
    api.estimator.Estimator(model_fn=None, model_dir=model_dir)


@case
def construct_with_model_fn_not_callable(api: Api, model_dir: str) -> Any:
    api.estimator.Estimator(model_fn=3, model_dir=model_dir)


@case
def construct_with_model_fn_without_features(api: Api, model_dir: str) -> Any:
    def model_fn(labels):
        return labels

    api.estimator.Estimator(model_fn=model_fn, model_dir=model_dir)


@case
def construct_with_model_fn_of_unknown_argument(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode, unknown):
        return features, labels, mode, unknown

    api.estimator.Estimator(model_fn=model_fn, model_dir=model_dir)


@case
def construct_with_model_fn_of_unknown_argument_with_default(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode, unknown=1):
        return features, labels, mode, unknown

    api.estimator.Estimator(model_fn=model_fn, model_dir=model_dir)


@case
def construct_with_params_the_model_fn_does_not_take(api: Api, model_dir: str) -> Any:
    tiny_estimator(api, model_dir, params={"rate": 1})


@case
def construct_with_empty_params_the_model_fn_does_not_take(api: Api, model_dir: str) -> Any:
    return tiny_estimator(api, model_dir, params={}).params


@case
def construct_with_model_fn_of_params_but_none_given(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode, params):
        return features, labels, mode, params

    return api.estimator.Estimator(model_fn=model_fn, model_dir=model_dir).params


@case
def construct_with_model_fn_of_star_arguments(api: Api, model_dir: str) -> Any:
    def model_fn(features, **others):
        return features, others

    return api.estimator.Estimator(model_fn=model_fn, model_dir=model_dir).params


@case
def construct_with_model_fn_of_features_alone(api: Api, model_dir: str) -> Any:
    def model_fn(features):
        return features

    return api.estimator.Estimator(model_fn=model_fn, model_dir=model_dir).params


@case
def construct_with_a_partial(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode, extra):
        return tiny_model_fn(api)(features, labels, mode)

    estimator = api.estimator.Estimator(functools.partial(model_fn, extra=1), model_dir)
    return int(estimator.train(tiny_input, steps=1).get_variable_value("global_step"))


@case
def construct_with_a_callable_object(api: Api, model_dir: str) -> Any:
    class Model:
        def __call__(self, features, labels, mode):
            return tiny_model_fn(api)(features, labels, mode)

    estimator = api.estimator.Estimator(Model(), model_dir)
    return int(estimator.train(tiny_input, steps=1).get_variable_value("global_step"))


@case
def construct_with_params_not_a_dict(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode, params):
        return features, labels, mode, params

    api.estimator.Estimator(model_fn=model_fn, model_dir=model_dir, params=[1])


@case
def construct_copies_params_deeply(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode, params):
        return features, labels, mode, params

    params = {"units": [1]}
    estimator = api.estimator.Estimator(model_fn, model_dir, params=params)
    params["units"].append(2)
    estimator.params["units"].append(3)
    return estimator.params


@case
def construct_with_config_of_wrong_type(api: Api, model_dir: str) -> Any:
    tiny_estimator(api, model_dir, config={"tf_random_seed": 1})


@case
def construct_with_two_model_dirs(api: Api, model_dir: str) -> Any:
    config = api.estimator.RunConfig(model_dir=model_dir + "_other")
    tiny_estimator(api, model_dir, config=config)


@case
def construct_with_model_dir_of_the_config(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, None, config=api.estimator.RunConfig(model_dir=model_dir))
    return [estimator.model_dir, estimator.config.model_dir]


@logged_case
def construct_with_temporary_model_dir(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, None)
    return [estimator.model_dir, Path(estimator.model_dir).is_dir()]


@case
def construct_with_empty_model_dir(api: Api, model_dir: str) -> Any:
    return tiny_estimator(api, "").model_dir


@case
def construct_with_path_object_as_model_dir(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, Path(model_dir))
    return [type(estimator.model_dir).__name__, str(estimator.model_dir)]


@case
def construct_gives_the_rules_of_eval_dir(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, model_dir)
    return [estimator.eval_dir(), estimator.eval_dir("test"), Path(model_dir).exists()]


@case
def construct_subclass_overriding_train(api: Api, model_dir: str) -> Any:
    class Mine(api.estimator.Estimator):
        def train(self, *args, **kwargs):
            return super().train(*args, **kwargs)

    Mine(tiny_model_fn(api), model_dir)


@case
def construct_subclass_overriding_private_member(api: Api, model_dir: str) -> Any:
    class Mine(api.estimator.Estimator):
        def _call_model_fn(self, *args, **kwargs):
            return None

    Mine(tiny_model_fn(api), model_dir)


@case
def construct_subclass_with_own_members(api: Api, model_dir: str) -> Any:
    class Mine(api.estimator.Estimator):
        def own(self):
            return "own"

    return Mine(tiny_model_fn(api), model_dir).own()


@case
def construct_warm_start_from_wrong_type(api: Api, model_dir: str) -> Any:
    tiny_estimator(api, model_dir, warm_start_from=3)


@case
def construct_warm_start_from_missing_checkpoint(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, model_dir, warm_start_from=model_dir + "_absent")
    estimator.train(tiny_input, steps=1)


@logged_case
def warm_start_loads_weights_but_not_the_step(api: Api, model_dir: str) -> Any:
    first = trained(api, model_dir + "_first", steps=3)
    second = tiny_estimator(api, model_dir, warm_start_from=first.model_dir)
    second.train(tiny_input, steps=1)
    return [
        float(second.get_variable_value("weight")[0, 0]),
        int(second.get_variable_value("global_step")),
    ]


@case
def warm_start_with_settings_of_no_variables(api: Api, model_dir: str) -> Any:
    first = trained(api, model_dir + "_first", steps=3)
    settings = api.estimator.WarmStartSettings(first.model_dir, vars_to_warm_start="none")
    second = tiny_estimator(api, model_dir, warm_start_from=settings)
    second.train(tiny_input, steps=1)
    return float(second.get_variable_value("weight")[0, 0])


@case
def warm_start_settings_without_checkpoint(api: Api, model_dir: str) -> Any:
    api.estimator.WarmStartSettings("")


@case
def warm_start_settings_have_defaults(api: Api, model_dir: str) -> Any:
    return dict(api.estimator.WarmStartSettings("path")._asdict())


@case
def config_has_defaults(api: Api, model_dir: str) -> Any:
    config = api.estimator.RunConfig()
    names = [name for name in dir(config) if not name.startswith("_") and name != "replace"]
    return {name: str(getattr(config, name)).strip() for name in names}


def _config_case(name: str, /, **arguments: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        config = api.estimator.RunConfig(**arguments)
        return {key: getattr(config, key) for key in arguments}

    run.__name__ = f"config_{name}"
    case(run)


for _name, _arguments in {
    "of_both_save_settings": {"save_checkpoints_steps": 1, "save_checkpoints_secs": 1},
    "of_both_save_settings_none": {
        "save_checkpoints_steps": None,
        "save_checkpoints_secs": None,
    },
    "of_zero_save_summary_steps": {"save_summary_steps": 0},
    "of_negative_save_summary_steps": {"save_summary_steps": -1},
    "of_zero_save_checkpoints_steps": {"save_checkpoints_steps": 0},
    "of_negative_save_checkpoints_steps": {"save_checkpoints_steps": -1},
    "of_negative_save_checkpoints_secs": {"save_checkpoints_secs": -1},
    "of_wrong_session_config": {"session_config": {"a": 1}},
    "of_negative_keep_checkpoint_max": {"keep_checkpoint_max": -1},
    "of_zero_keep_checkpoint_max": {"keep_checkpoint_max": 0},
    "of_zero_keep_checkpoint_every_n_hours": {"keep_checkpoint_every_n_hours": 0},
    "of_zero_log_step_count_steps": {"log_step_count_steps": 0},
    "of_negative_log_step_count_steps": {"log_step_count_steps": -1},
    "of_wrong_tf_random_seed": {"tf_random_seed": "seed"},
    "of_wrong_device_fn": {"device_fn": 3},
    "of_device_fn_of_other_argument": {"device_fn": lambda node: "/cpu:0"},
    "of_wrong_protocol": {"protocol": "http"},
    "of_zero_session_creation_timeout_secs": {"session_creation_timeout_secs": 0},
    "of_negative_experimental_max_worker_delay_secs": {
        "experimental_max_worker_delay_secs": -1
    },
    "of_empty_model_dir": {"model_dir": ""},
}.items():
    _config_case(_name, **_arguments)


@case
def config_replace_of_unknown_property(api: Api, model_dir: str) -> Any:
    api.estimator.RunConfig().replace(unknown=1)


@case
def config_replace_of_property_not_replaceable(api: Api, model_dir: str) -> Any:
    api.estimator.RunConfig().replace(task_id=1)


@case
def config_replace_of_save_settings(api: Api, model_dir: str) -> Any:
    config = api.estimator.RunConfig().replace(save_checkpoints_steps=5)
    again = config.replace(save_checkpoints_secs=7, tf_random_seed=3)
    return [
        [item.save_checkpoints_steps, item.save_checkpoints_secs] for item in (config, again)
    ]


@case
def config_replace_of_both_save_settings(api: Api, model_dir: str) -> Any:
    api.estimator.RunConfig().replace(save_checkpoints_steps=5, save_checkpoints_secs=7)


@case
def config_is_not_assignable(api: Api, model_dir: str) -> Any:
    api.estimator.RunConfig().model_dir = "other"


def _tf_config_case(name: str, /, value: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        before = os.environ.get("TF_CONFIG")
        os.environ["TF_CONFIG"] = value if isinstance(value, str) else json.dumps(value)
        try:
            return _cluster_facts(api.estimator.RunConfig())
        finally:
            os.environ.pop("TF_CONFIG")
            if before is not None:
                os.environ["TF_CONFIG"] = before

    run.__name__ = f"tf_config_{name}"
    case(run)


def _cluster_facts(config: Any) -> dict[str, Any]:
    facts = {
        name: getattr(config, name)
        for name in (
            "task_type",
            "task_id",
            "master",
            "evaluation_master",
            "is_chief",
            "num_ps_replicas",
            "num_worker_replicas",
            "global_id_in_cluster",
            "model_dir",
            "service",
        )
    }
    return {**facts, "cluster": config.cluster_spec.as_dict()}


_CLUSTER = {"chief": ["h:1"], "worker": ["h:2", "h:3"], "ps": ["h:4"]}
for _name, _value in {
    "not_json": "{",
    "empty": {},
    "of_model_dir": {"model_dir": "somewhere"},
    "of_worker": {"cluster": _CLUSTER, "task": {"type": "worker", "index": 1}},
    "of_chief": {"cluster": _CLUSTER, "task": {"type": "chief", "index": 0}},
    "of_ps": {"cluster": _CLUSTER, "task": {"type": "ps", "index": 0}},
    "of_evaluator": {"cluster": _CLUSTER, "task": {"type": "evaluator", "index": 0}},
    "of_master": {
        "cluster": {"master": ["h:1"], "worker": ["h:2"], "ps": ["h:4"]},
        "task": {"type": "master", "index": 0},
    },
    "of_grpc_rpc_layer": {
        "cluster": _CLUSTER,
        "task": {"type": "worker", "index": 0},
        "rpc_layer": "grpc+verbs",
        "session_master": "grpc://h:9",
        "eval_session_master": "grpc://h:8",
    },
    "without_chief": {
        "cluster": {"worker": ["h:2"], "ps": ["h:4"]},
        "task": {"type": "worker", "index": 0},
    },
    "of_two_chiefs": {
        "cluster": {"chief": ["h:1", "h:2"]},
        "task": {"type": "chief", "index": 0},
    },
    "of_chief_and_master": {
        "cluster": {"chief": ["h:1"], "master": ["h:2"]},
        "task": {"type": "chief", "index": 0},
    },
    "without_task_type": {"cluster": _CLUSTER, "task": {"index": 0}},
    "without_task_index": {"cluster": _CLUSTER, "task": {"type": "worker"}},
    "of_unknown_task_type": {"cluster": _CLUSTER, "task": {"type": "spare", "index": 0}},
    "of_negative_index": {"cluster": _CLUSTER, "task": {"type": "worker", "index": -1}},
    "of_index_out_of_range": {"cluster": _CLUSTER, "task": {"type": "worker", "index": 7}},
    "of_index_not_a_number": {"cluster": _CLUSTER, "task": {"type": "worker", "index": "a"}},
    "of_cluster_not_a_dict": {"cluster": [1], "task": {"type": "worker", "index": 0}},
    "of_task_not_a_dict": {"cluster": _CLUSTER, "task": [1]},
    "of_task_without_cluster": {"task": {"type": "worker", "index": 0}},
    "of_local_evaluator": {"task": {"type": "evaluator", "index": 0}},
    "of_service_not_a_dict": {"cluster": _CLUSTER, "service": 3},
    "of_model_dir_not_a_string": {"model_dir": ""},
}.items():
    _tf_config_case(_name, _value)


@case
def tf_config_model_dir_beside_another(api: Api, model_dir: str) -> Any:
    os.environ["TF_CONFIG"] = json.dumps({"model_dir": model_dir})
    try:
        api.estimator.RunConfig(model_dir=model_dir + "_other")
    finally:
        os.environ.pop("TF_CONFIG")


@case
def model_fn_property_calls_the_users(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, model_dir)
    with tf.Graph().as_default():
        tf.compat.v1.train.create_global_step()
        spec = estimator.model_fn(
            {"x": tf.zeros([1, 2])}, None, api.estimator.ModeKeys.PREDICT, estimator.config
        )
        return sorted(spec.predictions)


@case
def model_fn_gets_a_legal_subset_of_arguments(api: Api, model_dir: str) -> Any:
    seen: dict[str, Any] = {}

    def model_fn(features, labels, mode, params, config):
        seen.update(params=dict(params), config=type(config).__name__, mode=mode)
        seen["dir"] = config.model_dir
        return api.estimator.EstimatorSpec(mode, **tiny_parts(features, labels))

    api.estimator.Estimator(model_fn, model_dir, params={"a": 1}).train(tiny_input, steps=1)
    return seen
