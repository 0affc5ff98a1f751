import numpy as np
import pytest
import tf_keras

from input_fns import fashion_mnist, mnist, mnist_format, write_idx

RANDOM = np.random.default_rng(0)
IMAGES = RANDOM.integers(0, 256, [7, 28, 28], np.uint8)
LABELS = np.array([0, 9, 3, 4, 4, 1, 8], np.uint8)
DATA = (IMAGES[:4], LABELS[:4]), (IMAGES[4:], LABELS[4:])


@pytest.fixture
def data_dir(tmp_path):
    write_idx(tmp_path / "train-images-idx3-ubyte.gz", IMAGES[:4])
    write_idx(tmp_path / "train-labels-idx1-ubyte", LABELS[:4])
    write_idx(tmp_path / "t10k-images-idx3-ubyte", IMAGES[4:])
    write_idx(tmp_path / "t10k-labels-idx1-ubyte.gz", LABELS[4:])
    return tmp_path


@pytest.fixture
def offered(monkeypatch):
    """Replaces the download of tf_keras, and returns a counter of its calls."""
    asked = []

    def load_data():
        asked.append(1)
        return DATA

    for dataset in (tf_keras.datasets.mnist, tf_keras.datasets.fashion_mnist):
        monkeypatch.setattr(dataset, "load_data", load_data)
    return asked


@pytest.mark.parametrize("split", ["train", "test"])
def test_both_splits_are_read_compressed_or_not(elements, data_dir, split):
    ((pictures, labels),) = elements(
        lambda: mnist_format(data_dir, split, batch_size=9, num_epochs=1)
    )
    images, classes = DATA[split == "test"]
    np.testing.assert_allclose(pictures[..., 0], images / 255, rtol=1e-6)
    assert pictures.shape[3] == 1
    np.testing.assert_array_equal(labels, np.eye(10)[classes])


def test_labels_may_be_class_numbers(data_dir):
    ((_, labels),) = mnist_format(data_dir, one_hot=False, batch_size=9, num_epochs=1)
    assert labels.numpy().tolist() == LABELS[:4].tolist()


def test_the_error_about_a_missing_folder_or_file_says_how_to_get_it(tmp_path, data_dir):
    with pytest.raises(FileNotFoundError) as error:
        mnist_format(tmp_path / "nowhere")
    for part in ("train-images-idx3-ubyte.gz", "nowhere", "does not exist", "download=True"):
        assert part in str(error.value)
    (data_dir / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileNotFoundError, match="t10k-labels-idx1-ubyte in data_dir .* holds t10k"):
        mnist_format(data_dir, "test")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="which is empty"):
        mnist_format(tmp_path / "empty")


def test_bad_arguments_are_named(data_dir):
    with pytest.raises(TypeError, match="data_dir must be a path, but got None"):
        mnist_format(None)
    with pytest.raises(ValueError, match="split must be one of 'train', 'test', but got 'valid'"):
        mnist_format(data_dir, "valid")


@pytest.mark.parametrize("source", [mnist, fashion_mnist])
def test_nothing_is_downloaded_unless_requested(source, tmp_path, data_dir, offered):
    source(data_dir)
    with pytest.raises(FileNotFoundError):
        source(tmp_path / "nowhere")
    assert not offered


@pytest.mark.parametrize("source", [mnist, fashion_mnist])
def test_a_download_is_kept_in_the_folder(source, tmp_path, offered):
    for _ in range(2):
        dataset = source(tmp_path / "new", download=True, batch_size=9, num_epochs=1)
        np.testing.assert_allclose(next(iter(dataset))[0][..., 0], IMAGES[:4] / 255, rtol=1e-6)
    assert len(offered) == 1
    assert len(list((tmp_path / "new").iterdir())) == 4


def test_a_download_writes_only_missing_files(data_dir, offered):
    (data_dir / "t10k-labels-idx1-ubyte.gz").unlink()
    before = (data_dir / "train-images-idx3-ubyte.gz").stat().st_mtime_ns
    ((_, labels),) = fashion_mnist(data_dir, "test", download=True, one_hot=False, num_epochs=1)
    assert labels.numpy().tolist() == LABELS[4:].tolist()
    assert (data_dir / "train-images-idx3-ubyte.gz").stat().st_mtime_ns == before
    assert len(list(data_dir.iterdir())) == 4
