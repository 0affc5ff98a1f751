"""Examples of `input_fns`: a section for one or several names."""

import input_fns
import numpy as np
import tensorflow as tf

# %% arrays, PipelineOptions
x, y = np.arange(10.0), np.arange(10)
dataset = input_fns.arrays({"x": x}, y, batch_size=4, num_epochs=1)
options = input_fns.PipelineOptions(batch_size=4, shuffle=True, seed=1, num_epochs=1)
same = input_fns.arrays({"x": x}, y, options=options)
print([len(labels) for _, labels in dataset])  # [4, 4, 2]

# %% pandas_frame
import pandas as pd

frame = pd.DataFrame({"age": [20, 30], "job": ["clerk", "nurse"], "label": [0, 1]})
features, labels = next(iter(input_fns.pandas_frame(frame, "label", num_epochs=1)))
print(sorted(features))  # ['age', 'job']

# %% frame
import pandas as pd

rows = pd.DataFrame({"age": pd.array([20, None], "Int64"), "tags": [["a"], []], "label": [0, 1]})
batches = input_fns.frame(rows, "label", defaults={"age": -1}, num_epochs=1)
features, labels = next(iter(batches))
print(features["age"].numpy(), features["tags"])  # [20 -1] <tf.RaggedTensor [[b'a'], []]>

# %% generator


def rows():
    for number in range(3):
        yield {"x": float(number)}, number


dataset = input_fns.generator(rows, batch_size=3, num_epochs=1)
print(next(iter(dataset))[1].numpy())  # [0 1 2]

# %% tfds
try:
    dataset = input_fns.tfds("mnist", "train", batch_size=32)  # Prepared before, in data_dir.
except (ImportError, AssertionError) as error:  # Without tensorflow-datasets, or its data.
    print(error)

# %% digits
pictures, labels = next(iter(input_fns.digits("test", batch_size=8)))
print(pictures.shape, labels.shape)  # (8, 8, 8, 1) (8, 10)

# %% write_idx, read_idx, idx
pictures = np.random.default_rng(0).integers(0, 256, (6, 4, 4), np.uint8)
input_fns.write_idx("images-idx3-ubyte.gz", pictures)
input_fns.write_idx("labels-idx1-ubyte.gz", np.arange(6, dtype=np.uint8))
print(np.array_equal(input_fns.read_idx("images-idx3-ubyte.gz"), pictures))  # True
dataset = input_fns.idx("images-idx3-ubyte.gz", "labels-idx1-ubyte.gz", batch_size=3, num_epochs=1)

# %% mnist_format, mnist, fashion_mnist
import pathlib

pathlib.Path("data").mkdir()
for split, size in (("train", 60_000), ("t10k", 10_000)):
    input_fns.write_idx(f"data/{split}-images-idx3-ubyte.gz", np.zeros((size, 28, 28), np.uint8))
    input_fns.write_idx(f"data/{split}-labels-idx1-ubyte.gz", np.zeros(size, np.uint8))
dataset = input_fns.mnist("data", "test", batch_size=100)  # With download=True: from the internet.
dataset = input_fns.fashion_mnist("data", "test", batch_size=100)
dataset = input_fns.mnist_format("data", "test", batch_size=100)  # Any data in this format.
print(next(iter(dataset))[0].shape)  # (100, 28, 28, 1)

# %% image_folder
import pathlib

for name in ("cat", "dog"):
    pathlib.Path("pictures", name).mkdir(parents=True)
    picture = tf.io.encode_jpeg(np.zeros((32, 32, 3), np.uint8))
    tf.io.write_file(f"pictures/{name}/1.jpeg", picture)
dataset = input_fns.image_folder("pictures/*/*.jpeg", ["cat", "dog"], (16, 16), batch_size=2)
print(next(iter(dataset))[0].shape)  # (2, 16, 16, 3)

# %% csv
with open("rows.csv", "w") as file:
    file.write("age,job,label\n20,clerk,0\n30,nurse,1\n")
dataset = input_fns.csv("rows.csv", "label", batch_size=2, num_epochs=1)
features, labels = next(iter(dataset))
print(features["age"].numpy(), labels.numpy())  # [20 30] [0 1]

# %% parquet
import pandas as pd

pd.DataFrame({"age": [20, 30], "job": ["clerk", "nurse"], "y": [0, 1]}).to_parquet("rows.parquet")
dataset = input_fns.parquet("rows.parquet", "y", select=["age"], batch_size=2, num_epochs=1)
features, labels = next(iter(dataset))
print(features["age"].numpy(), labels.numpy())  # [20 30] [0 1]

# %% arrow
import pandas as pd

pd.DataFrame({"age": [20, 30], "y": [0, 1]}).to_feather("rows.feather")
dataset = input_fns.arrow("rows.feather", "y", batch_size=2, num_epochs=1)
print(next(iter(dataset))[1].numpy())  # [0 1]

# %% text_lines
with open("text.txt", "w") as file:
    file.write("to be or not\nto be\n")
dataset = input_fns.text_lines("text.txt", ["to", "be"], batch_size=2, num_epochs=1)
print(next(iter(dataset)))

# %% tfrecords
feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0]))
example = tf.train.Example(features=tf.train.Features(feature={"x": feature, "y": feature}))
with tf.io.TFRecordWriter("rows.tfrecord") as writer:
    writer.write(example.SerializeToString())
spec = {"x": tf.io.FixedLenFeature([], tf.float32), "y": tf.io.FixedLenFeature([], tf.float32)}
dataset = input_fns.tfrecords("rows.tfrecord", spec, "y", batch_size=1, num_epochs=1)
print(next(iter(dataset)))

# %% shuffle_and_repeat, map_and_batch
dataset = tf.data.Dataset.range(6)
dataset = dataset.apply(input_fns.shuffle_and_repeat(6, count=2, seed=1))
dataset = dataset.apply(input_fns.map_and_batch(lambda x: x * 10, batch_size=4))
print([len(batch) for batch in dataset])  # [4, 4, 4]
