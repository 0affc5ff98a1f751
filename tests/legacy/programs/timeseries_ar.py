# coding: utf-8
from __future__ import print_function
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib.timeseries.python.timeseries import NumpyReader

WORK = os.environ['WORK_DIR']
TrainEvalFeatures = tf.contrib.timeseries.TrainEvalFeatures


def noisy_waves(length):
    rng = np.random.RandomState(0)
    x = np.arange(length)
    return x, np.sin(np.pi * x / 20) + x / 400. + 0.05 * rng.randn(length)


def main(_):
    x, y = noisy_waves(600)
    reader = NumpyReader({TrainEvalFeatures.TIMES: x, TrainEvalFeatures.VALUES: y})

    with tf.Session() as sess:
        full_data = reader.read_full()
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        print('read', sess.run(full_data)['values'].shape)
        coord.request_stop()

    train_input_fn = tf.contrib.timeseries.RandomWindowInputFn(
        reader, batch_size=16, window_size=40)
    with tf.Session() as sess:
        batch = train_input_fn.create_batch()
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        one_batch = sess.run(batch[0])
        coord.request_stop()
    assert one_batch['times'].shape == (16, 40) and one_batch['values'].shape == (16, 40, 1)
    assert (np.diff(one_batch['times']) == 1).all()
    assert np.allclose(one_batch['values'][:, :, 0], y[one_batch['times']])

    ar = tf.contrib.timeseries.ARRegressor(
        periodicities=40, input_window_size=30, output_window_size=10, num_features=1,
        loss=tf.contrib.timeseries.ARModel.NORMAL_LIKELIHOOD_LOSS,
        model_dir=os.path.join(WORK, 'ar'))
    ar.train(input_fn=train_input_fn, steps=400)

    evaluation_input_fn = tf.contrib.timeseries.WholeDatasetInputFn(reader)
    evaluation = ar.evaluate(input_fn=evaluation_input_fn, steps=1)
    print(sorted(evaluation.keys()))
    print('loss falls', evaluation['loss'] < 0.6)

    (predictions,) = tuple(ar.predict(
        input_fn=tf.contrib.timeseries.predict_continuation_input_fn(evaluation, steps=45)))
    assert predictions['times'].tolist() == list(range(600, 645)), predictions['times']
    expected = np.sin(np.pi * predictions['times'] / 20) + predictions['times'] / 400.
    error = np.abs(predictions['mean'][:, 0] - expected).mean()
    print('continued', predictions['mean'].shape, error < 0.5)
    inside = evaluation['mean'][0] - evaluation['observed'][0]
    print('followed', np.sqrt((inside ** 2).mean()) < 0.2)
    assert (predictions['covariance'] > 0).all()

    export = ar.export_savedmodel(
        os.path.join(WORK, 'export'), ar.build_raw_serving_input_receiver_fn())
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], export)
        served = tf.contrib.timeseries.saved_model_utils.predict_continuation(
            continue_from=evaluation, signatures=signatures, session=session, steps=45)
    np.testing.assert_allclose(served['mean'][0], predictions['mean'], rtol=1e-4, atol=1e-4)
    print('served')


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run(main=main)
