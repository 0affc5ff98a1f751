"""A custom recurrent model of five values per time, with exogenous features."""
from __future__ import print_function
import functools
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib.timeseries.python.timeseries import estimators as ts_estimators
from tensorflow.contrib.timeseries.python.timeseries import model as ts_model
from tensorflow.contrib.timeseries.python.timeseries import state_management

WORK = os.environ['WORK_DIR']
timeseries = tf.contrib.timeseries


class LSTMModel(ts_model.SequentialTimeSeriesModel):

    def __init__(self, num_units, num_features, exogenous_feature_columns=None, dtype=tf.float32):
        super(LSTMModel, self).__init__(
            train_output_names=['mean'], predict_output_names=['mean'],
            num_features=num_features, dtype=dtype,
            exogenous_feature_columns=exogenous_feature_columns)
        self._num_units = num_units
        self._cell = None

    def initialize_graph(self, input_statistics=None):
        super(LSTMModel, self).initialize_graph(input_statistics=input_statistics)
        with tf.variable_scope('', use_resource=True):
            self._cell = tf.nn.rnn_cell.LSTMCell(num_units=self._num_units)
            self._run = tf.make_template('lstm_cell', self._cell, create_scope_now_=True)
            self._to_mean = tf.make_template(
                'to_mean', functools.partial(tf.layers.dense, units=self.num_features),
                create_scope_now_=True)

    def get_start_state(self):
        return (tf.zeros([], dtype=tf.int64),
                tf.zeros([self.num_features], dtype=self.dtype),
                tf.zeros(self._get_exogenous_embedding_shape(), dtype=self.dtype),
                [tf.squeeze(part, axis=0)
                 for part in self._cell.zero_state(batch_size=1, dtype=self.dtype)])

    def _filtering_step(self, current_times, current_values, state, predictions):
        time, prediction, exogenous, lstm_state = state
        with tf.control_dependencies([tf.assert_equal(current_times, time)]):
            scaled = self._scale_data(current_values)
            predictions['loss'] = tf.reduce_mean((prediction - scaled) ** 2, axis=-1)
            return (current_times, scaled, exogenous, lstm_state), predictions

    def _prediction_step(self, current_times, state):
        _, previous, exogenous, lstm_state = state
        inputs = tf.concat([previous, exogenous], axis=-1)
        output, lstm_state = self._run(inputs=inputs, state=lstm_state)
        mean = self._to_mean(output)
        return (current_times, mean, exogenous, lstm_state), {'mean': self._scale_back_data(mean)}

    def _imputation_step(self, current_times, state):
        return state

    def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
        time, prediction, _, lstm_state = state
        return time, prediction, current_exogenous_regressors, lstm_state


def write_series(path, length):
    times = np.arange(length)
    with open(path, 'w') as f:
        for t in times:
            values = [np.sin(t / 5. + k) + k for k in range(5)]
            row = [str(t)] + ['%.4f' % v for v in values] + ['1.0', '0.0', 'strkey']
            f.write(','.join(row) + '\n')


def main():
    tf.gfile.MakeDirs(WORK)
    path = os.path.join(WORK, 'series.csv')
    write_series(path, 200)
    columns = [
        tf.feature_column.numeric_column('2d_known', shape=(2,)),
        tf.feature_column.embedding_column(
            tf.feature_column.categorical_column_with_hash_bucket('word', 16), dimension=3)]
    estimator = ts_estimators.TimeSeriesRegressor(
        model=LSTMModel(num_units=16, num_features=5, exogenous_feature_columns=columns),
        optimizer=tf.train.AdamOptimizer(0.02),
        config=tf.estimator.RunConfig(model_dir=os.path.join(WORK, 'lstm')),
        state_manager=state_management.ChainingStateManager())
    reader = timeseries.CSVReader(
        path,
        column_names=((timeseries.TrainEvalFeatures.TIMES,)
                      + (timeseries.TrainEvalFeatures.VALUES,) * 5
                      + ('2d_known',) * 2 + ('word',)),
        column_dtypes=(tf.int64,) + (tf.float32,) * 7 + (tf.string,))
    estimator.train(timeseries.RandomWindowInputFn(reader, batch_size=4, window_size=32), steps=100)
    evaluation_input_fn = timeseries.WholeDatasetInputFn(reader)
    evaluation = estimator.evaluate(evaluation_input_fn, steps=1)
    print('learnt', evaluation['loss'] < 0.2, evaluation['mean'].shape)
    known = {'2d_known': np.concatenate([np.ones([1, 30, 1]), np.zeros([1, 30, 1])], axis=-1),
             'word': np.array(['strkey'] * 30)[None, :, None]}
    (predictions,) = tuple(estimator.predict(timeseries.predict_continuation_input_fn(
        evaluation, steps=30, exogenous_features=known)))
    expected = np.sin(predictions['times'][:, None] / 5. + np.arange(5)) + np.arange(5)
    print('continued', predictions['mean'].shape,
          np.abs(predictions['mean'] - expected)[:5].mean() < 0.5)

    with tf.Graph().as_default():
        features, _ = evaluation_input_fn()
        with tf.train.MonitoredSession() as session:
            features = session.run(features)
    export = estimator.export_savedmodel(
        os.path.join(WORK, 'export'), estimator.build_raw_serving_input_receiver_fn())
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(
            session, [tf.saved_model.tag_constants.SERVING], export)
        state = timeseries.saved_model_utils.cold_start_filter(
            signatures=signatures, session=session, features=features)
        served = timeseries.saved_model_utils.predict_continuation(
            continue_from=state, signatures=signatures, session=session, steps=30,
            exogenous_features=known)
    np.testing.assert_allclose(predictions['mean'], np.squeeze(served['mean'], 0), rtol=1e-4, atol=1e-4)
    print('served')


if __name__ == '__main__':
    main()
