"""Questions about tf.contrib.timeseries.StructuralEnsembleRegressor."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from estimating import end_to_end

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
    """Builds the default model with a known feature, and a cycle longer than its values."""
    estimator = Regressor(
        14.5,
        1,
        exogenous_feature_columns=[tf.feature_column.numeric_column("known")],
        exogenous_update_condition=lambda times, features: tf.squeeze(features["known"], -1) > 0,
        model_dir=tempfile.mkdtemp(),
    )
    data = dict(ONE, known=numbers(12))
    return end_to_end(estimator, data, 6, {"known": numbers(1, 5, start=3)})


def variances(found):
    """Answers with variances alone, for covariances of the original are not symmetric."""
    diagonals = {
        name: np.diagonal(found[name], axis1=-2, axis2=-1).tolist()
        for name in ("evaluation covariance", "prediction covariance")
    }
    return dict(found, **diagonals)


@question
def several_values_with_anomalies():
    estimator = regressor(4, 2, autoregressive_order=2, anomaly_prior_probability=0.3)
    return variances(end_to_end(estimator, TWO, 6, served=False))


@question
def an_even_number_of_latent_values():
    return regressor(7, cycle_num_latent_values=4)


if __name__ == "__main__":
    main()
