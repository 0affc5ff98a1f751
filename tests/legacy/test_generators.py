"""Generators of tf.data in programs for Python 3.6, under `run`."""

PROGRAM = """
import tensorflow as tf

def rows(scale=1.0):
    some = iter([1.0, 2.0])
    while True:
        try:
            yield scale * next(some)
        except StopIteration:
            raise

def broken():
    yield 1.0
    raise RuntimeError("bad row")

data = tf.data.Dataset
for source in (data.from_generator(rows, tf.float32).repeat(2),
               data.from_generator(rows, tf.float32, args=(3.0,)),
               data.from_generator(lambda: [4.0], tf.float32),
               data.from_generator(broken, tf.float32)):
    row = source.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        try:
            while True:
                print(session.run(row))
        except tf.errors.OutOfRangeError:
            print("end")
        except tf.errors.OpError as error:
            print("bad row" in error.message)
"""


def test_a_generator_may_end_by_stop_iteration(run):
    expected = ["1.0", "2.0", "1.0", "2.0", "end", "3.0", "6.0", "end", "4.0", "end", "1.0", "True"]
    assert run(PROGRAM, switches=("--tf1",)).stdout.splitlines() == expected
