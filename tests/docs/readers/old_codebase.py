from pathlib import Path

SCRIPT = """
import sys

import tensorflow as tf

tf.app.flags.DEFINE_integer("train_steps", 2, "Steps.")
tf.app.flags.DEFINE_boolean("its", False, "")
tf.app.flags.DEFINE_boolean("own", False, "")
tf.app.flags.DEFINE_boolean("flags", False, "")


def main(_):
    x = tf.get_variable("x", [], initializer=tf.ones_initializer())
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(x))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(tf.app.flags.FLAGS.train_steps):
            session.run(step)
        print("x is", session.run(x))


if __name__ == "__main__":
    tf.app.run()
"""
for path in ("train.py", "trainer/task.py", "path/to/codebase/train.py"):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(SCRIPT)
