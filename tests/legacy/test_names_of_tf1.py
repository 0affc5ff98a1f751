"""Names of TensorFlow 1 that stand alone, as old programs import and call them."""

DATA = """
import tensorflow as tf
from tensorflow.contrib.data.python.ops import threadpool
from tensorflow.contrib.tpu.python.tpu import datasets
from tensorflow.python.data.experimental.ops import optimization_options, threading_options
from tensorflow.python.data.experimental.ops import threadpool as of_2019

pool = threadpool.PrivateThreadPool(3, display_name="pool", max_intra_op_parallelism=2)
numbers = of_2019.override_threadpool(tf.data.Dataset.range(3), pool)
threads = numbers.options().threading
print(threads.private_threadpool_size, threads.max_intra_op_parallelism)
print(isinstance(threads, threading_options.ThreadingOptions))
print(isinstance(numbers.options().experimental_optimization,
                 optimization_options.OptimizationOptions))

for name in "ab":
    with open(name + ".txt", "w") as file:
        file.write(name + "0\\n" + name + "1\\n")
streamed = datasets.StreamingFilesDataset(
    "*.txt", filetype="textline", num_epochs=2, filename_shuffle_buffer_size=False,
    num_parallel_reads=1, sloppy=False)
shuffled = datasets.StreamingFilesDataset(
    tf.data.Dataset.from_tensor_slices(["a.txt", "b.txt"]), tf.data.TextLineDataset, num_epochs=1)

def read(dataset):
    value = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        try:
            while True:
                yield session.run(value)
        except tf.errors.OutOfRangeError:
            pass

print(list(read(numbers)))
print(list(read(streamed)))
print(sorted(read(shuffled)))
for wrong in ("x", 3):
    try:
        datasets.StreamingFilesDataset("*.txt", filetype=wrong)
    except ValueError as error:
        print(error)
"""
MODELS = """
import tempfile
import numpy as np
import tensorflow as tf
import tensorflow.contrib.graph_editor as ge
from tensorflow.contrib.compiler import xla
from tensorflow.keras.utils import multi_gpu_model

@xla.estimator_model_fn
def model_fn():
    return 1

print(model_fn(), xla.estimator_model_fn(model_fn) is model_fn)
graph = tf.Graph()
with graph.as_default():
    tf.split(tf.constant([1, 2], name="pair"), 2, name="parts")
print([tensor.name for tensor in ge.get_tensors(graph)])

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
model.compile("sgd", "mse")
print(multi_gpu_model(model, gpus=2) is model)
try:
    multi_gpu_model(model, gpus=1)
except ValueError as error:
    print(error)
path = tf.keras.experimental.export_saved_model(model, tempfile.mkdtemp())
loaded = tf.keras.experimental.load_from_saved_model(path)
x = np.ones((3, 2), np.float32)
print(np.allclose(loaded.predict(x), model.predict(x)))
"""

TOWERS = """
import tensorflow as tf
from tensorflow.contrib.estimator.python.estimator import extenders, replicate_model_fn
from tensorflow.contrib.estimator.python.estimator.replicate_model_fn import TowerOptimizer
from tensorflow_estimator.contrib.estimator.python.estimator import replicate_model_fn as second

optimizer = tf.train.AdamOptimizer()
print(second is replicate_model_fn, TowerOptimizer is second.TowerOptimizer)
print(TowerOptimizer(optimizer) is optimizer)
print(tf.contrib.estimator.replicate_model_fn is second.replicate_model_fn)
print(extenders.clip_gradients_by_norm is tf.contrib.estimator.clip_gradients_by_norm)
"""


def test_thread_pools_and_streamed_files(run):
    assert run(DATA, switches=["--tf1"]).stdout.splitlines() == [
        "3 2",
        "True",
        "True",
        "[0, 1, 2]",
        "[b'a0', b'a1', b'b0', b'b1', b'a0', b'a1', b'b0', b'b1']",
        "[b'a0', b'a1', b'b0', b'b1']",
        "filetype must be one of tfrecord, textline or a function, got 'x'.",
        "filetype must be one of tfrecord, textline or a function, got 3.",
    ]


def test_compiled_model_fns_selected_tensors_and_keras_models(run):
    assert run(MODELS, switches=["--tf1"]).stdout.splitlines() == [
        "1 True",
        "['pair:0', 'parts/split_dim:0', 'parts:0', 'parts:1']",
        "True",
        "multi_gpu_model needs gpus of 2 or more, got 1.",
        "True",
    ]


def test_the_module_of_towers(run):
    done = run(TOWERS, switches=["--tf1"])
    assert done.stdout.splitlines() == ["True True", "True", "True", "True"]
