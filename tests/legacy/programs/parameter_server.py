# Asynchronous training between graphs with a Supervisor, as in 2017.
import os

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "", "Comma-separated list of hostname:port pairs")
flags.DEFINE_string("worker_hosts", "", "Comma-separated list of hostname:port pairs")
flags.DEFINE_string("job_name", "", "One of 'ps', 'worker'")
flags.DEFINE_integer("task_index", 0, "Index of task within the job")
flags.DEFINE_integer("steps", 200, "Steps to train")
flags.DEFINE_string("log_dir", None, "Directory of checkpoints and summaries")
FLAGS = flags.FLAGS


def main(_):
    cluster = tf.train.ClusterSpec(
        {"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")}
    )
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    workers = len(FLAGS.worker_hosts.split(","))
    with tf.device("/job:ps/task:0"):
        # What workers leave in these when they are done, the ps and the chief wait for
        done_queue = tf.FIFOQueue(workers, tf.int32, [()], shared_name="done_queue")
        workers_queue = tf.FIFOQueue(workers, tf.int32, [()], shared_name="workers_queue")
    if FLAGS.job_name == "ps":
        with tf.Session(server.target) as sess:
            for _ in range(workers):
                print("done", sess.run(done_queue.dequeue()), flush=True)
        return

    is_chief = FLAGS.task_index == 0
    worker_device = "/job:worker/task:%d" % FLAGS.task_index
    with tf.device(tf.train.replica_device_setter(worker_device=worker_device, cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y_ = tf.placeholder(tf.float32, [None, 1], name="y")
        w = tf.Variable(tf.zeros([2, 1]), name="w")
        b = tf.Variable(tf.zeros([1]), name="b")
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y_), reduction_indices=[0, 1])
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=global_step)
        saver = tf.train.Saver(max_to_keep=1)
        tf.summary.scalar("loss", loss)
        summary_op = tf.summary.merge_all()
        init_op = tf.global_variables_initializer()
        all_done = workers_queue.dequeue_many(workers - 1)
        leave = [queue.enqueue(FLAGS.task_index) for queue in (workers_queue, done_queue)]
    print("variables on", w.device)

    sv = tf.train.Supervisor(
        is_chief=is_chief,
        logdir=FLAGS.log_dir,
        init_op=init_op,
        summary_op=None,
        saver=saver,
        global_step=global_step,
        save_model_secs=5,
        recovery_wait_secs=1,
    )
    rng = np.random.RandomState(FLAGS.task_index)
    loss_value = None
    with sv.managed_session(server.target) as sess:
        step = sess.run(global_step)
        print("starts at step", step, flush=True)
        while not sv.should_stop() and step < FLAGS.steps:
            batch = rng.rand(16, 2).astype(np.float32)
            target = batch.dot([[2.0], [-1.0]]) + 0.5
            feed = {x: batch, y_: target}
            _, loss_value, step = sess.run([train_op, loss, global_step], feed_dict=feed)
            if is_chief and step % 20 == 0:
                sv.summary_computed(sess, sess.run(summary_op, feed_dict=feed))
        print("w", np.round(sess.run(w).ravel(), 1).tolist(), "loss", loss_value)
        if is_chief:
            sv.stop(close_summary_writer=False)  # Its thread may be saving an earlier step
            sv.saver.save(sess, os.path.join(FLAGS.log_dir, "model.ckpt"), global_step=step)
            print("saved at step", step, flush=True)
            sess.run(all_done)
        try:
            sess.run(leave)
        except tf.errors.UnavailableError:
            pass  # The ps left before it answered
    sv.stop()


if __name__ == "__main__":
    tf.app.run()
