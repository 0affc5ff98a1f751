"""Generated data sets for old programs."""

import gzip
import struct

import numpy as np

NAMES = ("train", "t10k")


def write_mnist(folder, counts=(256, 64)):
    """Writes images of ten classes, each with a bright bar at another row, as files of MNIST."""
    folder.mkdir(parents=True)
    random = np.random.RandomState(0)
    for name, count in zip(NAMES, counts, strict=True):
        labels = random.randint(0, 10, count).astype(np.uint8)
        images = random.randint(0, 30, (count, 28, 28)).astype(np.uint8)
        for image, label in zip(images, labels, strict=True):
            image[2 * label : 2 * label + 4, 4:24] += 200
        with gzip.open(folder / f"{name}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + images.tobytes())
        with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">II", 2049, count) + labels.tobytes())


def write_iris(folder):
    """Writes flowers of three kinds, with the means of the real data, as the tutorial's files."""
    folder.mkdir(parents=True)
    random = np.random.RandomState(0)
    means = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
    for name, count in (("training", 120), ("test", 30)):
        kinds = random.randint(0, 3, count)
        sizes = means[kinds] + random.normal(0, 0.15, (count, 4))
        rows = [
            ",".join([*(f"{size:.1f}" for size in row), str(kind)])
            for row, kind in zip(sizes, kinds, strict=True)
        ]
        header = f"{count},4,setosa,versicolor,virginica"
        (folder / f"iris_{name}.csv").write_text("\n".join([header, *rows]) + "\n")
