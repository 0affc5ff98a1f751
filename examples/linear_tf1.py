"""Linear regression as a TensorFlow 1 program with a parameter server and a graph per process.

    estimator-train launch --workers=1 --ps=1 -- python linear_tf1.py MODEL_DIR

The program runs on TensorFlow 1 and on current TensorFlow. After a restart it continues from its
last checkpoint. `linear_estimator.py` is the same job as an Estimator.
"""

import json
import os
import sys

import numpy as np
import tensorflow as tf

tf = tf.compat.v1
tf.disable_v2_behavior()

MAX_STEPS, SAVE_STEPS = 400, 100
TRUE_WEIGHTS = np.float32([[1.0], [-2.0], [0.5]])


def build_model():
    """Builds the graph: placeholders, weights, global step, loss and training step."""
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = tf.placeholder(tf.float32, [None, 1], "y")
    weights = tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer())
    global_step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
    train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step)
    tf.summary.scalar("loss", loss)
    return x, y, weights, global_step, loss, train_op


def batches(batch_size=8):
    """Yields examples and labels, which are different in each process."""
    random = np.random.RandomState(os.getpid())
    while True:
        x = random.randn(batch_size, 3).astype(np.float32)
        yield x, x @ TRUE_WEIGHTS


def train(server, cluster, job, index, model_dir):
    """Trains as the chief or a worker."""
    is_chief = job == "chief"
    device = tf.train.replica_device_setter(
        worker_device=f"/job:{job}/task:{index}", cluster=cluster
    )
    with tf.Graph().as_default(), tf.device(device):
        x, y, weights, global_step, loss, train_op = build_model()
        summary_op = tf.summary.merge_all()
        saver = tf.train.Saver(max_to_keep=3)
        supervisor = tf.train.Supervisor(
            is_chief=is_chief,
            logdir=model_dir,
            saver=saver,
            global_step=global_step,
            summary_op=None,  # The chief writes summaries below, because they need feeds.
            save_model_secs=60,  # In addition to the checkpoints by steps below.
        )
        config = tf.ConfigProto(
            allow_soft_placement=True, device_filters=["/job:ps", f"/job:{job}/task:{index}"]
        )
        path = os.path.join(model_dir, "model.ckpt")
        with supervisor.managed_session(server.target, config=config) as session:
            step = session.run(global_step)
            print("begins at", step, flush=True)
            for batch_x, batch_y in batches():
                if supervisor.should_stop() or step >= MAX_STEPS:
                    break
                feeds = {x: batch_x, y: batch_y}
                last = step
                _, step = session.run([train_op, global_step], feeds)
                if is_chief and step // SAVE_STEPS > last // SAVE_STEPS:
                    supervisor.summary_computed(session, session.run(summary_op, feeds), step)
                    saver.save(session, path, global_step=global_step)
            if is_chief:
                saver.save(session, path, global_step=global_step)
            print("step", session.run(global_step))
            print("weights", *session.run(weights).ravel(), flush=True)


def main():
    """Runs the task of TF_CONFIG."""
    config = json.loads(os.environ["TF_CONFIG"])
    job, index = config["task"]["type"], config["task"]["index"]
    cluster = tf.train.ClusterSpec(config["cluster"])
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        server.join()  # Never returns; the launcher stops the process.
    else:
        train(server, cluster, job, index, sys.argv[1])


if __name__ == "__main__":
    main()
