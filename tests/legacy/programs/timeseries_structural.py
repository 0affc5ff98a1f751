# coding: utf-8
"""A series with weeks, a known change in its level, and two anomalies."""
from __future__ import print_function
import os

import numpy as np
import tensorflow as tf

WORK = os.environ['WORK_DIR']
ts = tf.contrib.timeseries


def write_csv(path, length=160, future=30):
    rng = np.random.RandomState(4)
    times = np.arange(length + future)
    week = np.array([0., 1., 2., 1.5, .5, -1., -2.])[times % 7]
    changed = (times == 90).astype(int)
    level = 5 + .02 * times + 6. * (times >= 90)
    values = level + week + .1 * rng.randn(times.size)
    values[40] += 15
    values[120] -= 15
    with open(path, 'w') as f:
        for time in times[:length]:
            f.write('{},{:.6f},{}\n'.format(time, values[time], changed[time]))
    return values[length:]


def main(_):
    tf.gfile.MakeDirs(WORK)
    path = os.path.join(WORK, 'changed_level.csv')
    coming = write_csv(path)
    reader = ts.CSVReader(
        path, column_names=(
            ts.TrainEvalFeatures.TIMES, ts.TrainEvalFeatures.VALUES, 'is_changepoint'))
    column = tf.feature_column.numeric_column('is_changepoint')

    estimator = ts.StructuralEnsembleRegressor(
        periodicities=7, cycle_num_latent_values=7, num_features=1,
        anomaly_prior_probability=.02,
        exogenous_feature_columns=[column],
        exogenous_update_condition=(
            lambda times, features: tf.equal(tf.squeeze(features['is_changepoint'], axis=-1), 1)),
        optimizer=tf.train.AdamOptimizer(.1),
        model_dir=os.path.join(WORK, 'model'))
    train_input_fn = ts.RandomWindowInputFn(reader, batch_size=4, window_size=64)
    estimator.train(input_fn=train_input_fn, steps=60)

    evaluation_input_fn = ts.WholeDatasetInputFn(reader)
    evaluation = estimator.evaluate(input_fn=evaluation_input_fn, steps=1)
    scores = evaluation['anomaly_score'][0]
    print('anomalies', sorted(np.argsort(scores)[-2:].tolist()), (scores > 0).sum() < 12)

    (predictions,) = tuple(estimator.predict(
        input_fn=ts.predict_continuation_input_fn(
            evaluation, steps=30,
            exogenous_features={'is_changepoint': np.zeros([1, 30, 1], np.float32)})))
    error = np.abs(predictions['mean'][:, 0] - coming).mean()
    deviations = np.sqrt(predictions['covariance'][:, 0, 0])
    print('continued', predictions['mean'].shape, error < 1., (np.diff(deviations[::7]) > 0).all())
    within = np.abs(predictions['mean'][:, 0] - coming) < 3 * deviations
    print('within', within.mean() > .9, estimator.get_variable_value('global_step'))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run(main=main)
