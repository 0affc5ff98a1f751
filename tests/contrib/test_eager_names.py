"""`tf.contrib.eager` under both of its names, compared with the answers of TensorFlow 1.15.5."""

import pytest

DIFFERENTIATED = """
import numpy as np
import tensorflow as tf
MODULE
tf.enable_eager_execution()
w, u = tfe.Variable(3.0), tfe.Variable(1.0)

def product(x):
    return w * w * x

def cubic(x, y):
    return x * x * y

def shown(gradients):
    return [float(one[0] if isinstance(one, tuple) else one) for one in gradients]

value, pairs = tfe.implicit_value_and_gradients(product)(tf.constant(2.0))
print(float(value), shown(pairs), pairs[0][1] is w)
print(shown(tfe.implicit_gradients(product)(tf.constant(2.0))))
both, pairs = tfe.implicit_value_and_gradients(lambda: (w * 2, {"a": u * w}))()
same = [one[1] is variable for one, variable in zip(pairs, (w, u))]
print(float(both[0]), float(both[1]["a"]), shown(pairs), same)
print(shown(tfe.gradients_function(cubic)(2.0, 3.0)))
print(shown(tfe.gradients_function(cubic)(np.float32(2.0), 3.0)))
print(shown(tfe.gradients_function(cubic, params=[1])(2.0, 3.0)))
print(shown(tfe.gradients_function(cubic, params=["x"])(tf.constant(2.0), tf.constant(3.0))))
value, gradients = tfe.value_and_gradients_function(cubic)(2.0, 3.0)
print(float(value), shown(gradients))
for wrong in (
    lambda: tfe.implicit_gradients(lambda: tf.constant(1.0))(),
    lambda: tfe.implicit_gradients(lambda: None)(),
    lambda: tfe.gradients_function(lambda x: None)(1.0),
    lambda: tfe.gradients_function(cubic, params=["z"])(1.0, 2.0),
    lambda: tfe.gradients_function(cubic, params=[5])(1.0, 2.0),
):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__, error)
"""
ANSWERS = """
18.0 [12.0] True
[12.0]
6.0 3.0 [3.0, 3.0] [True, True]
[12.0, 4.0]
[12.0, 4.0]
[4.0]
[12.0]
12.0 [12.0, 4.0]
ValueError No trainable variables were accessed while the function was being computed.
ValueError Cannot differentiate a function that returns None; did you forget to return a value from <lambda>?
ValueError Cannot differentiate a function that returns None; did you forget to return a value from <lambda>?
ValueError 'z' is not in list
IndexError list index out of range
"""  # noqa: E501
IMPORTS = ["tfe = tf.contrib.eager", "from tensorflow.contrib.eager.python import tfe"]


@pytest.mark.parametrize("import_line", IMPORTS)
def test_gradient_functions(run, import_line):
    program = DIFFERENTIATED.replace("MODULE", import_line)
    assert run(program, switches=["--tf1"]).stdout.splitlines() == ANSWERS.split("\n")[1:-1]


ELEMENTS = """
import tensorflow as tf
tfe = tf.contrib.eager
tf.enable_eager_execution()
data = tf.data.Dataset.from_tensor_slices([1, 2])
elements = tfe.Iterator(data)
print(elements.output_types, elements.output_shapes, int(elements.next()), int(next(elements)))
for end in (elements.next, elements.get_next):
    try:
        end()
    except (StopIteration, tf.errors.OutOfRangeError) as error:
        print(type(error).__name__)
print([int(one) for one in tfe.Iterator(data)], int(tfe.Iterator(data).get_next()))
"""


def test_iterator_over_a_dataset(run):
    assert run(ELEMENTS, switches=["--tf1"]).stdout.splitlines() == [
        *("<dtype: 'int32'> () 1 2", "StopIteration", "OutOfRangeError"),
        "[1, 2] 1",
    ]


TESTED = """
import tensorflow as tf
MODULE

class Tests(tf.test.TestCase):
    @tfe.run_test_in_graph_and_eager_modes()
    def test_functions_run_in_graph_and_eager_mode(self):
        print(tf.executing_eagerly())
        self.assertAllEqual(self.evaluate(tf.constant([1]) + 1), [2])

tf.test.main()
"""


@pytest.mark.parametrize("import_line", IMPORTS)
def test_decorated_tests_run_in_graph_and_eager_mode(run, import_line):
    done = run(TESTED.replace("MODULE", import_line), switches=["--tf1"])
    assert sorted(line for line in done.stdout.splitlines() if "e" in line) == [
        "False",
        "True",
    ]
