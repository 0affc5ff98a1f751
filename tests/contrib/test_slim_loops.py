"""slim's loop under the timing that loses a checkpoint: a thread is slow to save the first one."""

SLOW_THREAD = """
import os, tempfile, threading
import tensorflow as tf

slim = tf.contrib.slim
end = threading.Event()


class SlowSaver(tf.train.Saver):
    def save(self, session, path, global_step=None, **named):
        step = int(session.run(global_step))
        if threading.current_thread() is threading.main_thread():
            end.set()
        else:
            end.wait(1)
        return super().save(session, path, global_step=step, **named)


directory = tempfile.mkdtemp()
weight = tf.get_variable("weight", initializer=4.0)
optimizer = tf.train.GradientDescentOptimizer(0.25)
op = slim.learning.create_train_op(tf.square(weight), optimizer)
slim.learning.train(op, directory, number_of_steps=3, saver=SlowSaver())
print("latest:", os.path.basename(tf.train.latest_checkpoint(directory)))
"""


def test_the_latest_checkpoint_is_that_of_the_end(run):
    assert "latest: model.ckpt-3" in run(SLOW_THREAD, switches=("--tf1",)).stdout
