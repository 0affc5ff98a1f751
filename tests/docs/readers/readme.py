import gzip
import struct
from pathlib import Path

import numpy as np

Path("my_package").mkdir()
Path("my_package/model.py").write_text("""
import tf_keras


def build(learning_rate):
    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(4,))])
    model.compile(tf_keras.optimizers.Adam(learning_rate), "mse")
    return model
""")
Path("my_package/data.py").write_text("""
import numpy as np

import input_fns


def input_fn(mode, batch_size, num_epochs):
    x = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)
    return input_fns.arrays(x, x.sum(1, keepdims=True), batch_size, num_epochs=num_epochs)
""")


def idx(values):
    """The bytes of a file of the format that Fashion-MNIST has."""
    header = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
    return gzip.compress(header + values.tobytes())


Path("DIR").mkdir()
random = np.random.default_rng(0)
for part in ("train", "t10k"):
    pictures = random.integers(0, 256, [64, 28, 28], np.uint8)
    Path(f"DIR/{part}-images-idx3-ubyte.gz").write_bytes(idx(pictures))
    Path(f"DIR/{part}-labels-idx1-ubyte.gz").write_bytes(idx(np.arange(64, dtype=np.uint8) % 10))
