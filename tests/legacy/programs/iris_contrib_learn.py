"""The first quick start: tf.contrib.learn.DNNClassifier with fit, with arrays and its CSV."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import os

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
HOME = os.path.expanduser('~/.keras/datasets/')
IRIS_TRAINING = HOME + 'iris_training.csv'
IRIS_TEST = HOME + 'iris_test.csv'


def main():
    training_set = tf.contrib.learn.datasets.base.load_csv_with_header(
        filename=IRIS_TRAINING, target_dtype=np.int32, features_dtype=np.float32)
    test_set = tf.contrib.learn.datasets.base.load_csv_with_header(
        filename=IRIS_TEST, target_dtype=np.int32, features_dtype=np.float32)
    print(training_set.data.shape, test_set.target.dtype)

    # Specify that all features have real-value data
    feature_columns = [tf.contrib.layers.real_valued_column("", dimension=4)]
    classifier = tf.contrib.learn.DNNClassifier(
        feature_columns=feature_columns, hidden_units=[10, 20, 10], n_classes=3,
        model_dir=os.path.join(os.environ['WORK_DIR'], 'dnn'),
        optimizer=tf.train.AdagradOptimizer(learning_rate=0.1))
    validation_metrics = {
        "accuracy2": tf.contrib.learn.MetricSpec(
            metric_fn=tf.contrib.metrics.streaming_accuracy, prediction_key="classes"),
    }

    def get_train_inputs():
        return tf.constant(training_set.data), tf.constant(training_set.target)

    def get_test_inputs():
        return tf.constant(test_set.data), tf.constant(test_set.target)

    classifier.fit(input_fn=get_train_inputs, steps=150)
    scores = classifier.evaluate(input_fn=get_test_inputs, steps=1, metrics=validation_metrics)
    print("\nTest Accuracy: {0:f}\n".format(scores["accuracy"]))
    assert scores["accuracy"] > 0.8 and abs(scores["accuracy2"] - scores["accuracy"]) < 1e-6, scores

    new_samples = np.array([[6.4, 3.2, 4.5, 1.5], [5.0, 3.3, 1.5, 0.2]], dtype=np.float32)
    predictions = list(classifier.predict_classes(x=new_samples))
    print("New Samples, Class Predictions: {}".format(predictions))
    assert predictions == [1, 0]

    # The same with arrays, in the manner of scikit-learn, and a custom model
    columns = tf.contrib.learn.infer_real_valued_columns_from_input(training_set.data)
    linear = tf.contrib.learn.SKCompat(tf.contrib.learn.LinearClassifier(
        columns, n_classes=3, optimizer=tf.train.AdamOptimizer(0.2)))
    linear.fit(training_set.data, training_set.target, steps=80, batch_size=40)
    found = linear.predict(test_set.data)['classes']
    assert np.mean(found == test_set.target) > 0.8

    def model(features, target, mode):
        logits = tf.contrib.layers.fully_connected(features, 3, activation_fn=None)
        predictions = {'class': tf.argmax(logits, 1), 'prob': tf.nn.softmax(logits)}
        if mode == tf.contrib.learn.ModeKeys.INFER:
            return tf.contrib.learn.ModelFnOps(mode, predictions=predictions)
        loss = tf.losses.softmax_cross_entropy(tf.one_hot(target, 3, 1, 0), logits)
        train_op = tf.contrib.layers.optimize_loss(
            loss, tf.contrib.framework.get_global_step(), optimizer='Adagrad', learning_rate=0.3)
        return predictions, loss, train_op

    own = tf.contrib.learn.Estimator(model_fn=model)
    own.fit(training_set.data, training_set.target, steps=100)
    loss = own.evaluate(test_set.data, test_set.target)['loss']
    assert loss < 0.7, loss
    print('fitted', len(list(own.predict(test_set.data, as_iterable=True))))


if __name__ == "__main__":
    main()
