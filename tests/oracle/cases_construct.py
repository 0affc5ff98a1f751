"""Behaviours of building an Estimator."""

from __future__ import annotations

import functools
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
