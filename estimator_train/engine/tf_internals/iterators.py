"""Datasets and iterators of graphs."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf


def find_input_iterator(
    strategy: tf.distribute.Strategy,
    input_fn: Callable[[tf.distribute.InputContext], tf.data.Dataset],
) -> Any:
    """Returns a graph-mode iterator that feeds every replica from `input_fn`.

    Why internal: the public form is gone from TF2 strategies; those that replaced it return
    iterators for eager code.
    """
    with _silence_options_warning():
        return strategy.extended._make_input_fn_iterator(input_fn)


def read_options(dataset: tf.data.Dataset) -> tf.data.Options:
    """Returns the options of a dataset of the default graph.

    Why here: it suppresses the same warning as `find_input_iterator`.
    """
    with _silence_options_warning():
        return dataset.options()


@contextlib.contextmanager
def _silence_options_warning() -> Iterator[None]:
    """Silences tf.data's warning that options are read in graph mode, as is wanted here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="To make it possible to preserve tf.data options")
        yield


def find_iterator_handle(iterator: Any) -> tf.Tensor:
    """Returns the resource handle of a graph-mode iterator.

    Why internal: operations that save and restore an iterator take its handle, which is private.
    """
    return iterator._iterator_resource


def list_datasets_before(dataset: tf.data.Dataset) -> list[tf.data.Dataset]:
    """Returns the datasets that a dataset reads from.

    Why internal: the inputs of a dataset are private.
    """
    return dataset._inputs()
