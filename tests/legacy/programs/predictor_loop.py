"""Prediction: loops over predictors of every kind, and a raw session on the exported graph."""
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib import predictor
from tensorflow.python.saved_model import tag_constants
from tensorflow.saved_model import signature_constants

tf.logging.set_verbosity(tf.logging.WARN)
WORK = os.environ['WORK_DIR']


def model_fn(features, labels, mode):
    w = tf.get_variable('w', [2, 1], initializer=tf.zeros_initializer())
    score = tf.matmul(features['x'], w)
    predictions = {'score': score, 'doubled': score * 2}
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {
            signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY:
                tf.estimator.export.PredictOutput(predictions),
            'only_score': tf.estimator.export.PredictOutput({'outputs': score}),
        }
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
    loss = tf.losses.mean_squared_error(labels, score)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def train_input_fn():
    rng = np.random.RandomState(0)
    x = rng.randn(64, 2).astype(np.float32)
    y = x.dot([[2.0], [-1.0]]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({'x': x}, y)).repeat().batch(64)


def serving_input_receiver_fn():
    x = tf.placeholder(tf.float32, [None, 2], name='x')
    return tf.estimator.export.ServingInputReceiver({'x': x}, {'x': x})


estimator = tf.estimator.Estimator(model_fn, os.path.join(WORK, 'model'))
estimator.train(train_input_fn, max_steps=150)
export_dir = estimator.export_savedmodel(os.path.join(WORK, 'export'), serving_input_receiver_fn)
assert isinstance(export_dir, bytes)
print(sorted(os.listdir(export_dir)))

subdirs = [str(d) for d in tf.gfile.ListDirectory(os.path.join(WORK, 'export')) if 'temp' not in d]
latest = os.path.join(WORK, 'export', sorted(subdirs)[-1])
predict_fn = predictor.from_saved_model(latest)
print(sorted(predict_fn.feed_tensors), sorted(predict_fn.fetch_tensors))
rows = np.array([[1, 0], [0, 1], [3, 3]], np.float32)
for row in rows:
    out = predict_fn({'x': [row]})
    assert abs(out['score'][0][0] - row.dot([2, -1])) < 0.2, out
    assert np.allclose(out['doubled'], 2 * out['score'])
only = predictor.from_saved_model(latest, signature_def_key='only_score')
assert list(only({'x': rows})) == ['outputs']
from_est = tf.contrib.predictor.from_estimator(estimator, serving_input_receiver_fn)
assert np.allclose(from_est({'x': rows})['score'], predict_fn({'x': rows})['score'])
print(sorted(from_est.graph.get_collection('trainable_variables')[0].shape.as_list()))

with tf.Session(graph=tf.Graph()) as sess:
    tf.saved_model.loader.load(sess, [tag_constants.SERVING], latest)
    scores = sess.run(predict_fn.fetch_tensors['score'].name, {'x:0': rows})
    w = sess.run('w:0')
assert np.allclose(scores, rows.dot(w), atol=1e-5)

# predict() as a generator that is asked one by one, fed by a generator
requests = [[1, 1]]


def request_generator():
    while requests:
        yield {'x': requests.pop()}


def request_input_fn():
    return tf.data.Dataset.from_generator(
        request_generator, output_types={'x': tf.float32}, output_shapes={'x': [2]}).batch(1)


answers = estimator.predict(request_input_fn, predict_keys=['score'])
answer = next(answers)
assert sorted(answer) == ['score'] and abs(answer['score'][0] - 1) < 0.2
assert next(answers, None) is None
hooks = [tf.train.LoggingTensorHook(['w'], at_end=True)]
batches = list(estimator.predict(tf.estimator.inputs.numpy_input_fn(
    {'x': rows}, batch_size=2, shuffle=False), yield_single_examples=False, hooks=hooks))
assert [len(b['score']) for b in batches] == [2, 1]
tf.saved_model.simple_save
print('predicted by all')
