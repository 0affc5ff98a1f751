"""Small datasets, read from local files; nothing is downloaded."""

import collections
import csv
import importlib
import os
import shutil
import sys
import urllib.request
from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import DType
from tf_contrib.learn import mnist_data as mnist

Dataset = collections.namedtuple("Dataset", "data target")
Datasets = mnist.Datasets


def load_mnist(train_dir: str = "MNIST-data") -> mnist.Datasets:
    """Loads MNIST; see `read_data_sets`.

    Args:
      train_dir: Directory with the four files.
    """
    return mnist.read_data_sets(train_dir)


def load_csv_with_header(
    filename: str, target_dtype: DType, features_dtype: DType, target_column: int = -1
) -> Dataset:
    """Loads a CSV file whose first line gives the numbers of examples and features.

    Args:
      filename: Path of the file.
      target_dtype: Type of the labels.
      features_dtype: Type of the features.
      target_column: Index of the column with the labels.
    """
    header, *rows = _read_rows(filename)
    examples, width = int(header[0]), int(header[1])
    features = np.zeros((examples, width), features_dtype)
    targets = np.zeros((examples,), target_dtype)
    for index, row in enumerate(rows):
        targets[index] = np.asarray(row.pop(target_column), target_dtype)
        features[index] = np.asarray(row, features_dtype)
    return Dataset(features, targets)


def load_csv_without_header(
    filename: str, target_dtype: DType, features_dtype: DType, target_column: int = -1
) -> Dataset:
    """Loads a CSV file without a header; see `load_csv_with_header`."""
    rows = _read_rows(filename)
    targets = np.array([row.pop(target_column) for row in rows], target_dtype)
    return Dataset(np.array(rows, features_dtype), targets)


def load_iris(data_path: str | None = None) -> Dataset:
    """Loads Fisher's iris flowers: 150 examples, 4 measurements, 3 classes.

    Args:
      data_path: CSV file with a header; by default the copy in scikit-learn.

    Raises:
      ValueError: data_path is missing, and scikit-learn is not installed.
    """
    if data_path:
        return load_csv_with_header(data_path, np.int64, np.float64)
    try:
        sklearn_datasets: Any = importlib.import_module("sklearn.datasets")
    except ImportError as error:
        raise ValueError(
            "TensorFlow no longer contains the iris data: run `pip install scikit-learn`, which "
            "does, or set data_path to a CSV file with a header."
        ) from error
    flowers = sklearn_datasets.load_iris()
    return Dataset(flowers.data, flowers.target.astype(np.int64))


def load_boston(data_path: str | None = None) -> Dataset:
    """Loads the house prices of Boston.

    Args:
      data_path: CSV file with a header.

    Raises:
      ValueError: data_path is missing.
    """
    if not data_path:
        raise ValueError(
            "TensorFlow no longer contains the Boston data: set data_path to a CSV file with a "
            "header."
        )
    return load_csv_with_header(data_path, np.float64, np.float64)


DATASETS = {"iris": load_iris, "boston": load_boston, "mnist": load_mnist}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """Loads a dataset by name.

    Args:
      name: Key of DATASETS.
      size: Unused.
      test_with_fake_data: Unused.

    Raises:
      ValueError: The name is unknown.
    """
    del size, test_with_fake_data
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name]()


def _read_rows(filename: str) -> list[list[str]]:
    with tf.io.gfile.GFile(filename) as file:
        return [row for row in csv.reader(file) if row]


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """Downloads a file unless it exists, and returns its path.

    Args:
      filename: The name of the file.
      work_directory: The directory of the file, which is created if it does not exist.
      source_url: The address of the file.
    """
    os.makedirs(work_directory, exist_ok=True)
    path = os.path.join(work_directory, filename)
    if not os.path.exists(path):
        temporary, _ = urllib.request.urlretrieve(source_url)
        shutil.move(temporary, path)
        print("Successfully downloaded", filename, os.path.getsize(path), "bytes.")
    return path


base = sys.modules[__name__]
