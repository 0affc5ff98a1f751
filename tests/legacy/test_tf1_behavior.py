"""Arguments that only old TensorFlow accepts; the expected values come from TensorFlow 1.15.5."""

SIZES = """
import tensorflow as tf
print(tf.TensorShape([16 / 2, None]).as_list(), tf.Dimension(8.0).value)
cell = tf.nn.rnn_cell.LSTMCell(16 / 2)
print(cell.zero_state(3, tf.float32).c.shape.as_list())
try:
    tf.Dimension(8.5)
except (TypeError, ValueError) as error:
    print("refused")
"""


def test_whole_floats_are_accepted_as_sizes(run):
    assert run(SIZES).stdout.splitlines() == ["[8, None] 8", "[3, 8]", "refused"]


SHAPES = """
import numpy as np
import tensorflow as tf

def flat(*shape):
    layers = [tf.keras.layers.Flatten(input_shape=shape), tf.keras.layers.Dense(1)]
    return tf.keras.Sequential(layers)

def model_fn(features, labels, mode, params):
    loss = tf.reduce_mean(flat(28, 28)(features))
    with tf.control_dependencies([loss]):
        train_op = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

for shape in ((784,), (28, 28), (28, 28, 1)):
    images = np.zeros((4, *shape), np.float32)
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(lambda: tf.data.Dataset.from_tensors(images))
    print(estimator.get_variable_value("global_step"), flat(784)(tf.constant(images)).shape)
    model = flat(28, 28)
    model.compile("sgd", "mse")
    try:
        model.fit(images, np.zeros((4, 1)), verbose=0)
        print("fitted")
    except ValueError as error:
        print(str(error).split(" to have")[1])
"""


def test_keras_models_accept_other_shapes_than_declared(run):
    assert run(SHAPES).stdout.splitlines() == [
        "1 (4, 1)",
        " 3 dimensions, but got array with shape (4, 784)",
        "1 (4, 1)",
        "fitted",
        "1 (4, 1)",
        " 3 dimensions, but got array with shape (4, 28, 28, 1)",
    ]


FIRST_VALUES = """
import tensorflow as tf
makers = {
    "resource": lambda **given: tf.get_variable("resource", use_resource=True, **given),
    "reference": lambda **given: tf.get_variable("reference", use_resource=False, **given),
    "class": lambda shape, initializer: tf.Variable(initializer(shape), use_resource=True),
}
made = []
for maker in makers.values():
    first = maker(shape=[2], initializer=tf.random_normal_initializer())
    made.append((first, tf.Variable(2 * first.initialized_value())))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for name, pair in zip(makers, made):
        first, second = session.run(pair)
        print(name, (second == 2 * first).all())
    session.run(made[0][0].assign([3, 4]))
    print(session.run(made[0][0].initialized_value()))
"""


def test_a_variable_may_start_from_the_initialized_value_of_another(run):
    assert run(FIRST_VALUES, switches=["--tf1"]).stdout.splitlines() == [
        *("resource True", "reference True", "class True"),
        "[3. 4.]",
    ]


NETWORK = """
import tensorflow as tf
from tensorflow.python.keras.engine import network

class Doubled(network.Network):
    def __init__(self, size):
        inputs = [tf.keras.Input((size,)) for _ in range(2)]
        super().__init__(inputs=inputs, outputs=2 * inputs[0] + inputs[1])

inner = Doubled(2)
print(inner([tf.ones([1, 3]), tf.ones([1, 3])]).numpy().tolist())
inputs = [tf.keras.Input((4,)) for _ in range(2)]
print(tf.keras.Model(inputs, inner(inputs))([tf.ones([1, 4])] * 2).shape)
"""


def test_network_models_accept_other_shapes(run):
    assert run(NETWORK, switches=["--tf2"]).stdout.splitlines() == ["[[3.0, 3.0, 3.0]]", "(1, 4)"]


def test_keras_layers_have_apply(run):
    program = (
        "import tensorflow as tf\n"
        "layer = tf.keras.layers.Dense(3, kernel_initializer='ones')\n"
        "out = layer.apply(tf.ones([2, 4]))\n"
        "with tf.Session() as session:\n"
        "    session.run(tf.global_variables_initializer())\n"
        "    print(session.run(out).tolist(), len(layer.weights))\n"
    )
    assert run(program, switches=["--tf1"]).stdout == "[[4.0, 4.0, 4.0], [4.0, 4.0, 4.0]] 2\n"


REMOVED = """
import tensorflow as tf
print(tf.pywrap_tensorflow.NewCheckpointReader.__name__)
regularizer = tf.keras.regularizers.l2(0.1)
x = tf.placeholder(tf.float32, [None, 3])
model = tf.keras.Sequential([
    tf.keras.layers.Dense(4, kernel_regularizer=regularizer, activity_regularizer=regularizer),
    tf.keras.layers.BatchNormalization(),
])
model(x, training=True)
model(tf.placeholder(tf.float32, [None, 3]), training=True)
print(len(model.get_updates_for(x)), len(model.get_updates_for(None)), len(model.updates))
print(len(model.get_losses_for(x)), len(model.get_losses_for(None)), len(model.losses))
options = tf.data.Options()
options.experimental_optimization.hoist_random_uniform = True
options.experimental_distribute.auto_shard = False
print(options.experimental_distribute.auto_shard)
strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
print(int(tf.Session().run(strategy.experimental_run_v2(lambda: tf.constant(3)))))
print(tf.config.experimental_list_devices()[0])
"""


def test_removed_methods_of_tensorflow_and_keras_work(run):
    assert run(REMOVED, switches=["--tf1"]).stdout.splitlines() == [
        "NewCheckpointReader",
        "2 0 4",
        "1 1 3",
        "False",
        "3",
        "/job:localhost/replica:0/task:0/device:CPU:0",
    ]


PREDICTED = """
import numpy as np
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=[2], kernel_initializer="ones")])
x = np.float32([[1, 0]])
print(model.predict_classes(x), model.predict_proba(x).tolist())
"""


def test_sequential_models_predict_classes(run):
    assert run(PREDICTED, switches=["--tf2"]).stdout.splitlines()[-1] == "[0] [[1.0, 1.0]]"
