# A sentence classifier in the style of BERT: TPUEstimator, a checkpoint's variables, own optimizer.
import collections
import os
import re

import numpy as np
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("output_dir", None, "Where checkpoints are written.")
flags.DEFINE_string("init_checkpoint", None, "The checkpoint of the pre-trained model.")
flags.DEFINE_bool("use_tpu", False, "Whether to use TPU or GPU/CPU.")
flags.DEFINE_integer("iterations_per_loop", 10, "Steps in each call of the estimator.")
flags.mark_flag_as_required("output_dir")
VOCABULARY, LENGTH, HIDDEN = 20, 6, 16


def create_initializer(initializer_range=0.02):
    return tf.truncated_normal_initializer(stddev=initializer_range, seed=1)


def encoder(input_ids, is_training):
    with tf.variable_scope("bert"):
        table = tf.get_variable(
            "word_embeddings", [VOCABULARY, HIDDEN], initializer=create_initializer()
        )
        output = tf.gather(table, input_ids)
        output = tf.contrib.layers.layer_norm(
            inputs=output, begin_norm_axis=-1, begin_params_axis=-1, scope="LayerNorm"
        )
        if is_training:
            output = tf.nn.dropout(output, keep_prob=0.9)
        return tf.layers.dense(
            tf.reduce_mean(output, axis=1), HIDDEN, activation=tf.tanh,
            kernel_initializer=create_initializer(), name="pooler")  # fmt: skip


def get_assignment_map_from_checkpoint(tvars, init_checkpoint):
    names = collections.OrderedDict()
    for var in tvars:
        names[re.match("^(.*):\\d+$", var.name).group(1)] = var
    assignment_map = collections.OrderedDict()
    for name, _ in tf.train.list_variables(init_checkpoint):
        if name in names:
            assignment_map[name] = name
    return assignment_map


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    def __init__(self, learning_rate, weight_decay_rate=0.01, name="AdamWeightDecayOptimizer"):
        super(AdamWeightDecayOptimizer, self).__init__(False, name)
        self.learning_rate = learning_rate
        self.weight_decay_rate = weight_decay_rate

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for grad, param in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = re.match("^(.*):\\d+$", param.name).group(1)
            m = tf.get_variable(
                param_name + "/adam_m",
                param.shape.as_list(),
                trainable=False,
                initializer=tf.zeros_initializer(),
            )
            v = tf.get_variable(
                param_name + "/adam_v",
                param.shape.as_list(),
                trainable=False,
                initializer=tf.zeros_initializer(),
            )
            grad = tf.convert_to_tensor(grad)
            next_m = tf.multiply(0.9, m) + tf.multiply(0.1, grad)
            next_v = tf.multiply(0.999, v) + tf.multiply(0.001, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + 1e-6) + self.weight_decay_rate * param
            assignments.extend(
                [
                    param.assign(param - self.learning_rate * update),
                    m.assign(next_m),
                    v.assign(next_v),
                ]
            )
        return tf.group(*assignments, name=name)


def model_fn_builder(init_checkpoint, use_tpu):
    def model_fn(features, labels, mode, params):
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        pooled = encoder(features["input_ids"], is_training)
        logits = tf.layers.dense(pooled, 2, kernel_initializer=create_initializer())
        log_probs = tf.nn.log_softmax(logits, dim=-1)
        one_hot = tf.one_hot(features["label_ids"], depth=2, dtype=tf.float32)
        per_example_loss = -tf.reduce_sum(one_hot * log_probs, reduction_indices=-1)
        loss = tf.reduce_mean(per_example_loss)
        tvars = tf.trainable_variables()
        scaffold_fn = None
        if init_checkpoint:
            assignment_map = get_assignment_map_from_checkpoint(tvars, init_checkpoint)
            print("from checkpoint:", sorted(assignment_map))
            tf.train.init_from_checkpoint(init_checkpoint, assignment_map)
        if mode == tf.estimator.ModeKeys.TRAIN:
            global_step = tf.train.get_or_create_global_step()
            learning_rate = tf.train.polynomial_decay(0.02, global_step, 100, 0.0)
            optimizer = AdamWeightDecayOptimizer(learning_rate)
            if use_tpu:
                optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
            grads = tf.gradients(loss, tvars)
            (grads, _) = tf.clip_by_global_norm(grads, clip_norm=1.0)
            train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
            train_op = tf.group(train_op, [global_step.assign(global_step + 1)])
            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode, loss=loss, train_op=train_op, scaffold_fn=scaffold_fn
            )
        if mode == tf.estimator.ModeKeys.EVAL:

            def metric_fn(per_example_loss, label_ids, logits):
                predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
                return {
                    "eval_accuracy": tf.metrics.accuracy(label_ids, predictions),
                    "eval_loss": tf.metrics.mean(per_example_loss),
                }

            eval_metrics = (metric_fn, [per_example_loss, features["label_ids"], logits])
            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode, loss=loss, eval_metrics=eval_metrics, scaffold_fn=scaffold_fn
            )
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode, predictions={"probabilities": tf.exp(log_probs)}
        )

    return model_fn


def input_fn_builder(seed, is_training):
    ids = np.random.RandomState(seed).randint(0, VOCABULARY, (64, LENGTH))
    labels = (ids.min(axis=1) < 2).astype(np.int32)

    def input_fn(params):
        print("batch size", params["batch_size"])
        d = tf.data.Dataset.from_tensor_slices(
            {"input_ids": tf.constant(ids, tf.int32), "label_ids": tf.constant(labels)}
        )
        if is_training:
            d = d.repeat().shuffle(buffer_size=100, seed=1)
        return d.apply(tf.contrib.data.batch_and_drop_remainder(params["batch_size"]))

    return input_fn


def pretrain(path):
    with tf.Graph().as_default():
        encoder(tf.zeros([1, LENGTH], tf.int32), False)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return tf.train.Saver().save(sess, path)


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.gfile.MakeDirs(os.path.join(FLAGS.output_dir, "pretrained"))
    init_checkpoint = pretrain(os.path.join(FLAGS.output_dir, "pretrained", "bert.ckpt"))
    resolver = None
    if not FLAGS.use_tpu:
        resolver = tf.contrib.cluster_resolver.TPUClusterResolver("")
    run_config = tf.contrib.tpu.RunConfig(
        cluster=resolver,
        master=None,
        model_dir=FLAGS.output_dir,
        save_checkpoints_steps=50,
        tpu_config=tf.contrib.tpu.TPUConfig(
            iterations_per_loop=FLAGS.iterations_per_loop,
            num_shards=8,
            per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2,
        ),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        use_tpu=FLAGS.use_tpu,
        model_fn=model_fn_builder(init_checkpoint, FLAGS.use_tpu),
        config=run_config,
        train_batch_size=16,
        eval_batch_size=8,
        predict_batch_size=4,
    )
    estimator.train(input_fn=input_fn_builder(0, True), max_steps=100)
    print("RESULT", estimator.evaluate(input_fn=input_fn_builder(0, False), steps=8))
    results = list(estimator.predict(input_fn=input_fn_builder(0, False)))
    print("predictions", len(results), np.allclose(sum(results[0]["probabilities"]), 1))


if __name__ == "__main__":
    tf.app.run()
