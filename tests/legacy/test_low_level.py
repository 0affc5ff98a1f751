"""Sessions and queues of TensorFlow 1, all import paths of tf.estimator, `compat.install()`."""

import sys

import pytest
from legacy_programs import environment
from processes import run_process

QUEUES = """\
import os
import tensorflow as tf

with open("numbers.csv", "w") as f:
    for i in range(20):
        f.write("%d,%d\\n" % (i, 3 * i))

names = tf.train.string_input_producer(["numbers.csv"], num_epochs=2, shuffle=False)
_, line = tf.TextLineReader().read(names)
x, y = tf.decode_csv(line, record_defaults=[[0.0], [0.0]])
xs, ys = tf.train.batch([x, y], batch_size=8, allow_smaller_final_batch=True)
total = tf.reduce_sum(ys)
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    sums = []
    try:
        while not coord.should_stop():
            sums.append(sess.run(total))
    except tf.errors.OutOfRangeError:
        print("done", len(sums), sum(sums))
    finally:
        coord.request_stop()
    coord.join(threads)

# The same with a model and a session that starts its queue runners.
tf.reset_default_graph()
examples = tf.train.slice_input_producer([tf.constant([1.0, 2.0, 3.0, 4.0])], num_epochs=50, seed=1)
feature = tf.train.shuffle_batch(examples, 4, capacity=32, min_after_dequeue=8, seed=1)
step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(w * feature - 5 * feature))
train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
hooks = [tf.train.StopAtStepHook(last_step=30)]
with tf.train.MonitoredTrainingSession(checkpoint_dir="monitored", hooks=hooks) as sess:
    while not sess.should_stop():
        sess.run(train_op)
print("w %.3f" % tf.train.load_variable("monitored", "w"), tf.train.latest_checkpoint("monitored"))
"""

SERVER = """\
import tensorflow as tf

server = tf.train.Server.create_local_server()
with tf.device(tf.train.replica_device_setter(worker_device="/job:local/task:0")):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    x = tf.placeholder(tf.float32, [None])
    loss = tf.reduce_mean(tf.square(w * x - 2 * x))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
tf.summary.scalar("loss", loss)
summary = tf.summary.merge_all()
with tf.train.MonitoredTrainingSession(server.target, is_chief=True) as sess:
    for _ in range(40):
        sess.run(train_op, feed_dict={x: [1.0, 2.0]})
    print("server %.3f" % sess.run(w))

saver = tf.train.Saver()
for last in (20, 50):
    sv = tf.train.Supervisor(logdir="supervised", saver=saver, summary_op=None, global_step=step)
    with sv.managed_session(server.target) as sess:
        print("from", sess.run(step))
        while not sv.should_stop():
            text, now = sess.run([summary, step], feed_dict={x: [1.0]})
            sv.summary_computed(sess, text)
            sess.run(train_op, feed_dict={x: [1.0]})
            if now + 1 >= last:
                break
        sv.stop(close_summary_writer=False)  # Its thread may be saving an earlier step.
        saver.save(sess, sv.save_path, global_step=step)
print("last", tf.train.latest_checkpoint("supervised"))
"""

IMPORT_PATHS_1 = """\
import tensorflow as tf
from tensorflow.python.estimator import gc, util, run_config
from tensorflow.python.estimator.canned import dnn, metric_keys
from tensorflow.python.estimator.estimator import Estimator
from tensorflow.python.estimator.export import export
from tensorflow.python.estimator.inputs import numpy_io
from tensorflow_estimator.python.estimator.model_fn import EstimatorSpec
from tensorflow.estimator import ModeKeys
from tensorflow.contrib.estimator import multi_class_head
from tensorflow.contrib.learn import RunConfig
import tensorflow_estimator as tfe

tf.placeholder, tf.layers
assert tf.estimator.Estimator is tf.compat.v1.estimator.Estimator is Estimator
assert tfe.estimator.Estimator is Estimator and dnn.DNNClassifier is tf.estimator.DNNClassifier
assert tf.compat.v2.estimator.Estimator is not Estimator
assert issubclass(tf.compat.v2.estimator.Estimator, Estimator)
assert EstimatorSpec is tf.estimator.EstimatorSpec
assert run_config.RunConfig is tf.estimator.RunConfig
assert numpy_io.numpy_input_fn is tf.estimator.inputs.numpy_input_fn
assert export.ServingInputReceiver is tf.estimator.export.ServingInputReceiver
assert tf.train.SessionRunHook is tf.estimator.SessionRunHook
assert metric_keys.MetricKeys.LOSS == "loss" and ModeKeys.PREDICT == "infer"
assert tf.contrib.learn.ModeKeys.INFER == "infer" and callable(util.fn_args)
assert callable(tf.keras.estimator.model_to_estimator) and callable(gc.largest_export_versions(2))
assert callable(tf.contrib.estimator.stop_if_no_increase_hook) and callable(multi_class_head)
assert issubclass(RunConfig, tf.estimator.RunConfig)
# An installed library that imports TensorFlow sees the installed version, with tf.estimator.
from tensorboard.compat import tf as theirs
assert theirs.__version__.startswith("2.") and not hasattr(theirs, "contrib"), theirs
assert theirs.estimator.Estimator and hasattr(theirs, "function")
print("all", tf.__version__)
"""

IMPORT_PATHS_2 = """\
import tensorflow as tf
import tensorflow_estimator
from tensorflow import estimator
from tensorflow.compat.v1 import estimator as v1_estimator
from tensorflow_estimator.python.estimator import estimator as inner
from tensorflow_estimator.python.estimator.mode_keys import ModeKeys

tf.function, tf.optimizers.Adam
assert tf.estimator.Estimator is estimator.Estimator is inner.EstimatorV2
assert tf.compat.v1.estimator.Estimator is v1_estimator.Estimator is not estimator.Estimator
assert tensorflow_estimator.estimator.Estimator is estimator.Estimator
assert tf.compat.v2.estimator.Estimator is estimator.Estimator
assert ModeKeys is tf.estimator.ModeKeys
assert tf.keras.layers.Dense.__module__.startswith("tf_keras") and tf.executing_eagerly()
assert callable(tf.keras.estimator.model_to_estimator)
assert tf.estimator.SessionRunHook is tf.compat.v1.train.SessionRunHook
print("all", tf.__version__)
"""


def test_queue_runners_and_input_producers_run(run):
    lines = run(QUEUES).stdout.splitlines()
    assert lines == ["done 5 1140.0", "w 5.000 monitored/model.ckpt-30"]


def test_servers_monitored_sessions_and_supervisors_run(run):
    lines = run(SERVER).stdout.splitlines()
    assert lines == ["server 2.000", "from 0", "from 20", "last supervised/model.ckpt-50"]


@pytest.mark.parametrize(
    ("text", "words"), [(IMPORT_PATHS_1, "all 1.15.5"), (IMPORT_PATHS_2, "all 2.")]
)
def test_every_import_path_of_the_estimator_works(text, words, run):
    assert run(text).stdout.startswith(words)


@pytest.mark.long
def test_compat_install_does_the_same_as_run(tmp_path):
    (tmp_path / "model.py").write_text(
        "import tensorflow as tf\n"
        "def model_fn(features, labels, mode):\n"
        "    w = tf.get_variable('w', [], initializer=tf.zeros_initializer())\n"
        "    loss = tf.losses.mean_squared_error(labels, w * features)\n"
        "    train_op = tf.contrib.layers.optimize_loss(\n"
        "        loss, tf.train.get_global_step(), 0.1, 'SGD')\n"
        "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n"
    )
    (tmp_path / "train.py").write_text(
        "import estimator_train.compat; estimator_train.compat.install()\n"
        "import tensorflow as tf\n"
        "from model import model_fn\n"
        "tf.logging.set_verbosity(tf.logging.ERROR)\n"
        "data = lambda: tf.data.Dataset.from_tensors((tf.ones([4]), 3 * tf.ones([4]))).repeat()\n"
        "estimator = tf.estimator.Estimator(model_fn, 'model')\n"
        "estimator.train(data, steps=50)\n"
        "print(tf.__version__, '%.3f' % estimator.get_variable_value('w'))\n"
        "from tensorboard.compat import tf as theirs\n"
        "print(theirs.__version__[:2], hasattr(theirs, 'contrib'))\n"
    )
    done = run_process([sys.executable, "train.py"], cwd=tmp_path, env=environment())
    assert done.stdout == "1.15.5 3.000\n2. False\n", done.stderr[-3000:]
