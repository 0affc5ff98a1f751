"""The guide for moving estimators to TensorFlow 2, as a script: Keras layers inside a model_fn."""
import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

NUM_CLASSES, BATCH_SIZE = 3, 16
rng = np.random.RandomState(0)
IMAGES = rng.rand(96, 6, 6, 1).astype('float32')
LABELS = rng.randint(0, NUM_CLASSES, 96)
IMAGES[np.arange(96), LABELS * 2] += 1.5


def make_model(**kwargs):
    return tf.keras.Sequential([
        tf.keras.layers.Conv2D(4, 3, activation='relu',
                               kernel_regularizer=tf.keras.regularizers.l2(0.002), **kwargs),
        layers.Flatten(),
        layers.Dropout(0.1),
        layers.Dense(16, activation='relu'),
        layers.BatchNormalization(momentum=0.8),
        layers.Dense(NUM_CLASSES),
    ])


def input_fn():
    return tf.data.Dataset.from_tensor_slices((IMAGES, LABELS)).repeat().shuffle(96).batch(BATCH_SIZE)


def my_model_fn(features, labels, mode):
    model = make_model()
    training = mode == tf.estimator.ModeKeys.TRAIN
    loss_obj = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE)
    predictions = model(features, training=training)

    reg_losses = model.losses
    total_loss = tf.reduce_mean(loss_obj(labels, predictions)) + tf.math.add_n(reg_losses)

    # Upgrade to tf.keras.metrics.
    accuracy_obj = tf.keras.metrics.Accuracy(name='acc_obj')
    accuracy = accuracy_obj.update_state(
        y_true=labels, y_pred=tf.math.argmax(predictions, axis=1))

    train_op = None
    if training:
        # Upgrade to tf.keras.optimizers.
        optimizer = tf.keras.optimizers.legacy.Adam(0.01)
        # Manually assign tf.compat.v1.global_step variable to optimizer.iterations
        # to make tf.compat.v1.train_global_step increased correctly.
        optimizer.iterations = tf.compat.v1.train.get_or_create_global_step()
        update_ops = model.updates
        # Compute the minimize_op.
        minimize_op = optimizer.get_updates(total_loss, model.trainable_variables)[0]
        train_op = tf.group(minimize_op, *update_ops)

    return tf.estimator.EstimatorSpec(
        mode=mode, predictions=predictions, loss=total_loss, train_op=train_op,
        eval_metric_ops={'Accuracy': accuracy_obj})


estimator = tf.estimator.Estimator(
    model_fn=my_model_fn, model_dir=os.path.join(os.environ['WORK_DIR'], 'custom'))
train_spec = tf.estimator.TrainSpec(input_fn=input_fn, max_steps=60)
eval_spec = tf.estimator.EvalSpec(input_fn=input_fn, steps=6)
eval_result, _ = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
print(sorted(eval_result))
assert eval_result['global_step'] == 60 and eval_result['Accuracy'] > 0.9, eval_result

# And the compiled model itself, in an estimator
strategy = None
config = tf.estimator.RunConfig(train_distribute=strategy, tf_random_seed=1)
model = make_model(input_shape=(6, 6, 1))
model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              optimizer=tf.keras.optimizers.Adam(0.01), metrics=['accuracy'])
keras_est = tf.keras.estimator.model_to_estimator(
    keras_model=model, config=config, model_dir=os.path.join(os.environ['WORK_DIR'], 'keras'))
result = tf.estimator.train_and_evaluate(
    keras_est, tf.estimator.TrainSpec(input_fn, max_steps=60), eval_spec)[0]
assert result['accuracy'] > 0.9, result


# Images without flattening, for a model of rows
rows = tf.keras.Sequential([layers.Dense(NUM_CLASSES, input_shape=(36,), name='rows')])
rows.compile('adam', tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
flat_est = tf.keras.estimator.model_to_estimator(rows)
flat_est.train(lambda: input_fn().map(lambda x, y: ({'rows_input': x}, y)), steps=2)


class InitHook(tf.estimator.SessionRunHook):
    seen = 0

    def after_run(self, run_context, run_values):
        InitHook.seen += 1


v1 = tf.compat.v1.estimator.DNNClassifier(
    [8], [tf.feature_column.numeric_column('x', shape=(36,))], n_classes=3)
v1.train(tf.compat.v1.estimator.inputs.numpy_input_fn(
    {'x': IMAGES.reshape(96, 36)}, LABELS, 32, None, True), steps=5, hooks=[InitHook()])
assert InitHook.seen == 5
print('moved', int(v1.get_variable_value('global_step')))
