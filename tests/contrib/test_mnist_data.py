"""`tf.contrib.learn.datasets.mnist` reads the files of MNIST."""

import numpy as np
import pytest
import tensorflow as tf
from program_data import write_mnist

from tf_contrib.learn import mnist_data


@pytest.fixture(scope="module")
def mnist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "mnist"
    write_mnist(folder, (60, 20))
    return str(folder)


def test_tutorial_data_is_read_and_split(mnist):
    data = mnist_data.read_data_sets(mnist, one_hot=True, validation_size=10, seed=1)
    assert [part.num_examples for part in data] == [50, 10, 20]
    assert data.train.images.shape == (50, 784)
    assert (data.train.images.min(), data.train.images.max()) >= (0, 0.5)
    assert data.train.images.max() <= 1
    assert (data.train.labels.sum(1) == 1).all()
    numbers = mnist_data.read_data_sets(mnist, validation_size=10, reshape=False)
    assert numbers.validation.images.shape == (10, 28, 28, 1)
    np.testing.assert_array_equal(numbers.train.labels, data.train.labels.argmax(1))


def test_batches_continue_with_the_next_epoch(mnist):
    test = mnist_data.read_data_sets(mnist, validation_size=10).test
    first, labels = test.next_batch(15, shuffle=False)
    np.testing.assert_array_equal(first, test.images[:15])
    np.testing.assert_array_equal(labels, test.labels[:15])
    second, _ = test.next_batch(15, shuffle=False)
    np.testing.assert_array_equal(second, test.images[[*range(15, 20), *range(10)]])
    assert test.epochs_completed == 1


@pytest.mark.parametrize(
    ("settings", "dtype", "shape", "largest"),
    [
        ({}, np.float32, (4, 4), 1.0),
        ({"reshape": True, "dtype": tf.float32}, np.float32, (4, 4), 1.0),
        ({"reshape": False, "dtype": tf.uint8}, np.uint8, (4, 2, 2, 1), 255),
    ],
)
def test_a_data_set_of_own_pictures(settings, dtype, shape, largest):
    pictures = np.full((4, 2, 2, 1), 255, np.uint8)
    data = mnist_data.DataSet(pictures, np.arange(4), **settings)
    # TensorFlow 1.15.5 answers so.
    assert (data.images.dtype, data.images.shape, data.images.max()) == (dtype, shape, largest)
    assert (data.num_examples, data.labels.tolist()) == (4, [0, 1, 2, 3])


def test_shuffled_epochs_contain_each_example_once(mnist):
    data = mnist_data.read_data_sets(mnist, validation_size=10, seed=3).train
    orders = []
    for _ in range(2):
        seen = np.concatenate([data.next_batch(10)[0] for _ in range(5)])
        orders.append([np.flatnonzero((data.images == one).all(1))[0] for one in seen])
        assert sorted(orders[-1]) == [*range(50)]
    assert orders[0] != orders[1]
