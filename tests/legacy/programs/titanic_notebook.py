# A notebook of the TensorFlow 2 tutorials, as a script: linear models with estimators.
from __future__ import absolute_import, division, print_function, unicode_literals

import os

import numpy as np
import pandas as pd
import tensorflow.compat.v2.feature_column as fc

import tensorflow as tf

print(tf.__version__.split('.')[0], tf.executing_eagerly())

# Load dataset.
rng = np.random.RandomState(0)


def make_frame(count):
    frame = pd.DataFrame({
        'sex': rng.choice(['male', 'female'], count),
        'age': rng.uniform(1, 70, count),
        'n_siblings_spouses': rng.randint(0, 4, count),
        'fare': rng.uniform(5, 80, count),
        'class': rng.choice(['First', 'Second', 'Third'], count),
        'alone': rng.choice(['y', 'n'], count),
    })
    survives = (frame['sex'] == 'female') * 2 + (frame['class'] == 'First') - (frame['age'] > 40)
    frame['survived'] = (survives >= 1).astype(int)
    return frame


dftrain, dfeval = make_frame(300), make_frame(100)
y_train = dftrain.pop('survived')
y_eval = dfeval.pop('survived')

CATEGORICAL_COLUMNS = ['sex', 'n_siblings_spouses', 'class', 'alone']
NUMERIC_COLUMNS = ['age', 'fare']

feature_columns = []
for feature_name in CATEGORICAL_COLUMNS:
    vocabulary = dftrain[feature_name].unique()
    feature_columns.append(
        tf.feature_column.categorical_column_with_vocabulary_list(feature_name, vocabulary))

for feature_name in NUMERIC_COLUMNS:
    feature_columns.append(tf.feature_column.numeric_column(feature_name, dtype=tf.float32))


def make_input_fn(data_df, label_df, num_epochs=10, shuffle=True, batch_size=32):
    def input_function():
        ds = tf.data.Dataset.from_tensor_slices((dict(data_df), label_df))
        if shuffle:
            ds = ds.shuffle(1000)
        ds = ds.batch(batch_size).repeat(num_epochs)
        return ds
    return input_function


train_input_fn = make_input_fn(dftrain, y_train)
eval_input_fn = make_input_fn(dfeval, y_eval, num_epochs=1, shuffle=False)

for feature_batch, label_batch in make_input_fn(dftrain, y_train, batch_size=10)().take(1):
    print('Some feature keys:', list(feature_batch.keys()))
    assert feature_batch['class'].numpy()[0] in (b'First', b'Second', b'Third')
    gender = tf.keras.layers.DenseFeatures(
        [tf.feature_column.indicator_column(feature_columns[0])])(feature_batch).numpy()
    assert gender.shape == (10, 2)

linear_est = tf.estimator.LinearClassifier(feature_columns=feature_columns)
linear_est.train(train_input_fn)
result = linear_est.evaluate(eval_input_fn)
print(sorted(result))
assert result['auc'] > 0.95 and result['global_step'] == 100, result
pred_dicts = list(linear_est.predict(eval_input_fn))
probs = pd.Series([pred['probabilities'][1] for pred in pred_dicts])
hits = (probs > 0.5).astype(int).values == y_eval.values
assert abs(hits.mean() - result['accuracy']) < 0.02

# Crossed column, in a deep and wide model, with train_and_evaluate
age_x_gender = tf.feature_column.crossed_column(
    [tf.feature_column.bucketized_column(feature_columns[4], [20, 40]), 'sex'], hash_bucket_size=50)
est = tf.estimator.DNNLinearCombinedClassifier(
    linear_feature_columns=[age_x_gender],
    dnn_feature_columns=[fc.indicator_column(feature_columns[2]), feature_columns[4]],
    dnn_hidden_units=[8],
    dnn_optimizer=tf.keras.optimizers.Adam(0.05),
    linear_optimizer=lambda: tf.keras.optimizers.Ftrl(
        learning_rate=tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.96)),
    config=tf.estimator.RunConfig(model_dir=os.environ['WORK_DIR'], tf_random_seed=1))
train_spec = tf.estimator.TrainSpec(input_fn=train_input_fn, max_steps=80)
eval_spec = tf.estimator.EvalSpec(input_fn=eval_input_fn, steps=None, throttle_secs=0)
metrics, _ = tf.estimator.train_and_evaluate(est, train_spec, eval_spec)
assert metrics['global_step'] == 80 and metrics['auc'] > 0.6, metrics

serving_input_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(
    tf.feature_column.make_parse_example_spec([feature_columns[0], feature_columns[2],
                                               feature_columns[4]]))
path = est.export_saved_model(os.path.join(os.environ['WORK_DIR'], 'export'), serving_input_fn)
imported = tf.saved_model.load(path if isinstance(path, str) else path.decode())
example = tf.train.Example()
example.features.feature['sex'].bytes_list.value.extend([b'female'])
example.features.feature['class'].bytes_list.value.extend([b'First'])
example.features.feature['age'].float_list.value.extend([20.0])
answer = imported.signatures['predict'](examples=tf.constant([example.SerializeToString()]))
assert answer['probabilities'].numpy()[0, 1] > 0.5
print('served', sorted(answer))
