"""What an estimator of time series comes to: trained, evaluated, continued and exported."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import numbers

timeseries = tf.contrib.timeseries


class Load(tf.train.SessionRunHook):
    """Gives variables values that do not depend on any seed, also where training goes on."""

    def after_create_session(self, session, coord):
        starts = [one for one in tf.global_variables() if "prior_state_mean" in one.name]
        variables = sorted(tf.trainable_variables() + starts, key=lambda v: v.name)
        for index, variable in enumerate(variables):
            value = 0.3 * numbers(*variable.shape.as_list(), start=7 * index)
            variable.load(value, session)


def whole(data):
    return timeseries.WholeDatasetInputFn(timeseries.NumpyReader(data))


def end_to_end(estimator, data, length, known=None, served=True):
    """Variables after two steps, an evaluation, predictions, and those of an export if served."""
    estimator.train(
        whole({name: values[:length] for name, values in data.items()}), steps=2, hooks=[Load()]
    )
    names = [name for name in estimator.get_variable_names() if "cached" not in name]
    found = {name: estimator.get_variable_value(name) for name in names}
    evaluation = estimator.evaluate(whole(data), steps=1)
    continued = timeseries.predict_continuation_input_fn
    (predicted,) = tuple(
        estimator.predict(continued(evaluation, steps=5, exogenous_features=known))
    )
    for prefix, results in (("evaluation ", evaluation), ("prediction ", predicted)):
        found.update({prefix + name: value for name, value in results.items()})
    parts = tf.contrib.framework.nest.flatten(found.pop("evaluation start_tuple"))
    found.update({"state " + str(index): part for index, part in enumerate(parts)})
    if served:
        found.update(exported(estimator, data, evaluation, known))
    return {name: np.asarray(value).tolist() for name, value in found.items()}


def exported(estimator, data, evaluation, known):
    utils = timeseries.saved_model_utils
    receiver = estimator.build_raw_serving_input_receiver_fn()
    path = estimator.export_savedmodel(tempfile.mkdtemp(), receiver)
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.loader.load(session, ["serve"], path)
        signatures = {
            name: ", ".join(sorted(one.inputs)) + " -> " + ", ".join(sorted(one.outputs))
            for name, one in model.signature_def.items()
        }
        begun = {name: values[None, :6] for name, values in data.items()}
        rest = {name: values[None, 6:] for name, values in data.items()}
        if known:
            del begun["known"], rest["known"]
            begun["known"] = data["known"][None, :6, None]
            rest["known"] = data["known"][None, 6:, None]
            known = {"known": np.array(known["known"])[:, :, None]}
        state = utils.cold_start_filter(model, session, begun)
        state = utils.filter_continuation(state, model, session, rest)
        after = utils.predict_continuation(state, model, session, steps=5, exogenous_features=known)
        same = utils.predict_continuation(
            evaluation, model, session, times=evaluation["times"][0, -1:] + 2,
            exogenous_features=known and {"known": known["known"][:, :1]},
        )  # fmt: skip
    found = {"served " + name: value for name, value in after.items()}
    found.update({"later " + name: value for name, value in same.items()})
    found.update({"state " + name: value for name, value in state.items()})
    return dict(found, **signatures)
