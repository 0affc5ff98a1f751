"""Small data sets, from files that are there already; nothing is downloaded."""

import collections
import csv
import importlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.legacy.tutorials import input_data as mnist

Dataset = collections.namedtuple("Dataset", "data target")
Datasets = mnist.Datasets


def load_mnist(train_dir: str = "MNIST-data") -> Any:
    """MNIST; see `read_data_sets`.

    Args:
      train_dir: The directory with its four files.
    """
    return mnist.read_data_sets(train_dir)


def load_csv_with_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Any:
    """A CSV file whose first line has the numbers of its examples and features.

    Args:
      filename: The file.
      target_dtype: Type of the labels.
      features_dtype: Type of the features.
      target_column: Where the labels are.
    """
    header, *rows = _rows(filename)
    examples, width = int(header[0]), int(header[1])
    features = np.zeros((examples, width), features_dtype)
    targets = np.zeros((examples,), target_dtype)
    for index, row in enumerate(rows):
        targets[index] = np.asarray(row.pop(target_column), target_dtype)
        features[index] = np.asarray(row, features_dtype)
    return Dataset(features, targets)


def load_csv_without_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Any:
    """A CSV file without a first line; see `load_csv_with_header`."""
    rows = _rows(filename)
    targets = np.array([row.pop(target_column) for row in rows], target_dtype)
    return Dataset(np.array(rows, features_dtype), targets)


def load_iris(data_path: str | None = None) -> Any:
    """The flowers of Fisher: 150 with 4 sizes each, of 3 kinds.

    Args:
      data_path: A CSV file with a header; by default the copy within scikit-learn.

    Raises:
      ValueError: There is neither.
    """
    if data_path:
        return load_csv_with_header(data_path, np.int64, np.float64)
    try:
        of_sklearn: Any = importlib.import_module("sklearn.datasets")
    except ImportError as error:
        raise ValueError(
            "TensorFlow does not bring the iris data any more: `pip install scikit-learn`, which "
            "does, or name a CSV file with a header by data_path."
        ) from error
    flowers = of_sklearn.load_iris()
    return Dataset(flowers.data, flowers.target.astype(np.int64))


def load_boston(data_path: str | None = None) -> Any:
    """The houses of Boston.

    Args:
      data_path: A CSV file with a header.

    Raises:
      ValueError: None is named.
    """
    if not data_path:
        raise ValueError(
            "TensorFlow does not bring the Boston data any more: name a CSV file with a header by "
            "data_path."
        )
    return load_csv_with_header(data_path, np.float64, np.float64)


DATASETS = {"iris": load_iris, "boston": load_boston, "mnist": load_mnist}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """A data set by its name.

    Args:
      name: A key of DATASETS.
      size: Unused.
      test_with_fake_data: Not supported.

    Raises:
      ValueError: It is another.
    """
    del size, test_with_fake_data
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name]()


def _rows(filename: str) -> list[list[str]]:
    with tf.io.gfile.GFile(filename) as file:
        return [row for row in csv.reader(file) if row]


base = SimpleNamespace(
    Dataset=Dataset,
    Datasets=Datasets,
    load_boston=load_boston,
    load_csv_with_header=load_csv_with_header,
    load_csv_without_header=load_csv_without_header,
    load_iris=load_iris,
)
