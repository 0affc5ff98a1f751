"""Questions about tf.contrib.timeseries.StructuralEnsembleRegressor."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import differs, main, numbers, question, signature
from estimating import Load, end_to_end, whole

Regressor = tf.contrib.timeseries.StructuralEnsembleRegressor
TIMES = np.array([5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 20, 21])
ONE = {"times": TIMES, "values": numbers(12, 1) * 3 + 1}
TWO = {"times": TIMES, "values": numbers(12, 2) * 3 + 1}


def regressor(periodicities=(), num_features=1, **named):
    named.setdefault("cycle_num_latent_values", 5)
    named.setdefault("moving_average_order", 1)
    return Regressor(periodicities, num_features, model_dir=tempfile.mkdtemp(), **named)


@question
def arguments():
    return {"arguments": ", ".join(signature(Regressor))}


@question
def as_it_is_by_default():
    """With cycles that are shorter and longer than the values that they have."""
    return end_to_end(Regressor([3, 14.5], 1, model_dir=tempfile.mkdtemp()), ONE, 6)


def variances(found):
    """Answers of several values, with the variances alone where those are not."""
    predicted = ["evaluation covariance", "prediction covariance"]
    predicted += ["served covariance", "later covariance"]
    diagonals = {name: np.diagonal(found[name], axis1=-2, axis2=-1).tolist() for name in predicted}
    return dict(found, **diagonals)


@question
def several_values():
    return variances(end_to_end(regressor(4, 2, autoregressive_order=2), TWO, 6, served=False))


@differs("the original multiplies each column by one variance, so that the matrix is not symmetric")
@question
def covariances_of_several_values():
    estimator = regressor([], 2)
    estimator.train(whole(TWO), steps=1, hooks=[Load()])
    return {"covariance": estimator.evaluate(whole(TWO), steps=1)["covariance"][:, -1].tolist()}


@question
def anomalies_of_several_values():
    estimator = regressor([], 2, anomaly_prior_probability=0.3)
    return variances(end_to_end(estimator, TWO, 6, served=False))


@question
def exogenous_features_at_some_times():
    estimator = regressor(
        exogenous_feature_columns=[tf.feature_column.numeric_column("known")],
        exogenous_update_condition=lambda times, features: tf.squeeze(features["known"], -1) > 0,
    )
    data = dict(ONE, known=numbers(12))
    return end_to_end(estimator, data, 6, {"known": numbers(1, 5, start=3)}, served=False)


@question
def an_even_number_of_latent_values():
    return regressor(7, cycle_num_latent_values=4)


if __name__ == "__main__":
    main()
