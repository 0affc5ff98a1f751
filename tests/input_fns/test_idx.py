import gzip
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings, strategies as st

from input_fns import idx, read_idx, write_idx

DTYPES = ["uint8", "int8", "int16", "int32", "float32", "float64"]
IMAGES = np.arange(5 * 2 * 3, dtype=np.uint8).reshape(5, 2, 3)
LABELS = np.array([3, 0, 2, 1, 3], np.uint8)


@pytest.mark.parametrize("name", ["array-idx", "array-idx.gz"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (7,), (0, 3), (2, 3, 4), (1, 2, 1, 2, 1)])
def test_a_written_array_is_read_back(tmp_path, name, dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)) * 100 - 50).astype(dtype).reshape(shape)
    write_idx(tmp_path / name, array)
    found = read_idx(tmp_path / name)
    assert found.dtype == np.dtype(dtype)
    assert found.shape == shape
    np.testing.assert_array_equal(found, array)


def test_simultaneous_writers_of_a_file_all_succeed(tmp_path):
    array = np.random.default_rng(0).integers(0, 255, [2_000_000], np.uint8)
    writers = 8
    barrier = threading.Barrier(writers)

    def write(_):
        barrier.wait()
        write_idx(tmp_path / "x", array)
        return read_idx(tmp_path / "x")

    with ThreadPoolExecutor(writers) as pool:
        for found in pool.map(write, range(writers)):
            np.testing.assert_array_equal(found, array)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_written_bytes_match_the_format(tmp_path):
    path = tmp_path / "x"
    write_idx(path, np.array([[1, 2, -3]], np.int16))
    assert path.read_bytes() == bytes.fromhex("00000b02 00000001 00000003 0001 0002 fffd")
    write_idx(path, np.array([1.5], np.float32))
    assert path.read_bytes() == bytes.fromhex("00000d01 00000001 3fc00000")
    write_idx(path, np.array([7, 8], ">i4"))
    assert path.read_bytes() == bytes.fromhex("00000c01 00000002 00000007 00000008")


def test_arrays_read_are_writable_copies(tmp_path):
    write_idx(tmp_path / "x", IMAGES)
    found = read_idx(tmp_path / "x")
    found += 1
    np.testing.assert_array_equal(read_idx(tmp_path / "x"), IMAGES)


def test_compression_is_detected_from_the_contents(tmp_path):
    write_idx(tmp_path / "a.gz", IMAGES)
    (tmp_path / "a.gz").rename(tmp_path / "unzipped-it-says")
    np.testing.assert_array_equal(read_idx(tmp_path / "unzipped-it-says"), IMAGES)


def test_the_same_array_gives_the_same_file(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_idx(tmp_path / name, IMAGES)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gz", "b.gz"]


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint16", "complex64", "U3"])
def test_unsupported_dtypes_are_rejected(tmp_path, dtype):
    with pytest.raises(TypeError, match=rf"hold uint8, .*float64, but .*x is \S*{dtype}"):
        write_idx(tmp_path / "x", np.zeros([2], dtype))
    assert not list(tmp_path.iterdir())


def idx_bytes(array):
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


WHOLE = idx_bytes(IMAGES)
ZIPPED = gzip.compress(WHOLE, mtime=0)
DAMAGED = ZIPPED[:20] + bytes(8) + ZIPPED[28:]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "found 0 bytes, expected 4 or more"),
        (b"\0\0\x08", "found 3 bytes, expected 4 or more"),
        (b"\x89PNG" + bytes(20), "found magic number 0x89504e47, expected 0x0000, then.*0x08"),
        (b"\0\0\x0a\x01" + bytes(20), "found magic number 0x00000a01, expected.*0x0b, 0x0c"),
        (WHOLE[:10], "found 10 bytes, expected 16 or more for a header with 3 dimensions"),
        (WHOLE[:-1], r"cut short: found 45 bytes, expected 46 for uint8 of shape \(5, 2, 3\)"),
        (WHOLE + b"x", "longer than its header says: found 47 bytes, expected 46"),
        (b"\0\0\x08\xff" + b"\xff" * 1020, "cut short: found 1024 bytes, expected [0-9]{100}"),
        (ZIPPED[:-9], "damaged gzip file"),
        (ZIPPED[:12], "damaged gzip file"),
        (ZIPPED[:-8] + bytes(8), "damaged gzip file"),
        (DAMAGED, "damaged gzip file"),
        (gzip.compress(WHOLE[:-1], mtime=0), "found 45 bytes, expected 46"),
        (ZIPPED + b"junk", "damaged gzip file"),
    ],
)
def test_a_bad_file_is_named_with_what_was_found_and_expected(tmp_path, content, text):
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=text) as error:
        read_idx(path)
    assert str(path) in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no IDX file .*nowhere"):
        read_idx(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=f"{tmp_path} is a folder, expected an IDX file"):
        read_idx(tmp_path)
    with pytest.raises(TypeError, match="path must be a path, but got None"):
        read_idx(None)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    cut=st.integers(0, len(WHOLE)),
    place=st.integers(0, len(WHOLE)),
    noise=st.binary(max_size=8),
    zipped=st.booleans(),
)
def test_damage_gives_a_value_error_or_an_array(tmp_path, cut, place, noise, zipped):
    content = (WHOLE[:place] + noise + WHOLE[place + len(noise) :])[: cut or None]
    (tmp_path / "x").write_bytes(gzip.compress(content, mtime=0) if zipped else content)
    try:
        found = read_idx(tmp_path / "x")
    except ValueError as error:
        found = str(error)
    assert isinstance(found, np.ndarray) or str(tmp_path / "x") in found


@pytest.fixture
def files(tmp_path):
    write_idx(tmp_path / "images.gz", IMAGES)
    write_idx(tmp_path / "labels", LABELS)
    return tmp_path / "images.gz", tmp_path / "labels"


def test_pictures_are_scaled_and_labels_are_classes(elements, files):
    first, second = elements(lambda: idx(*files, batch_size=3, num_epochs=1))
    pictures = np.concatenate([first[0], second[0]])
    assert pictures.dtype == np.float32
    np.testing.assert_allclose(pictures, IMAGES[..., np.newaxis] / 255, rtol=1e-6)
    labels = np.concatenate([first[1], second[1]])
    assert labels.dtype == np.int32
    assert labels.tolist() == LABELS.tolist()


def test_labels_are_one_hot_on_request(elements, files):
    (batch,) = elements(lambda: idx(*files, num_classes=4, batch_size=5, num_epochs=1))
    np.testing.assert_array_equal(batch[1], np.eye(4, dtype=np.float32)[LABELS])


def test_max_value_is_scaled_to_one(files):
    (batch,) = idx(*files, max_value=16, batch_size=5, num_epochs=1)
    np.testing.assert_allclose(batch[0][..., 0], IMAGES / 16, rtol=1e-6)


def test_channels_are_kept(tmp_path, files):
    colours = np.arange(5 * 2 * 2 * 3, dtype=np.uint8).reshape(5, 2, 2, 3)
    write_idx(tmp_path / "colours", colours)
    dataset = idx(tmp_path / "colours", files[1], batch_size=5, num_epochs=1)
    assert dataset.element_spec[0].shape == [None, 2, 2, 3]


def test_idx_takes_the_batch_settings_of_arrays(files):
    dataset = idx(*files, batch_size=2, shuffle=True, seed=1, num_epochs=2, drop_remainder=True)
    labels = np.concatenate([labels for _, labels in dataset.as_numpy_iterator()])
    assert sorted(labels[:5]) == sorted(labels[5:]) == sorted(LABELS)
    assert labels[:5].tolist() != LABELS.tolist()
    with pytest.raises(TypeError, match="batchsize"):
        idx(*files, batchsize=2)


@pytest.mark.parametrize(
    ("images", "labels", "arguments", "text"),
    [
        (IMAGES, LABELS[:3], {}, "images.* and .*labels.*: found 3 labels, expected 5"),
        (LABELS, LABELS, {}, r"images.*no pictures: found an array of shape \(5,\)"),
        (IMAGES[:0], LABELS, {}, r"images.*no pictures: found an array of shape \(0, 2, 3\)"),
        (IMAGES, IMAGES, {}, r"labels.*no labels: found uint8 of shape \(5, 2, 3\)"),
        (IMAGES, LABELS / 2, {}, r"labels.*no labels: found float64 of shape \(5,\)"),
        (IMAGES, LABELS, {"num_classes": 3}, "labels.*found 0 to 3, expected 0 to 2"),
        (IMAGES, LABELS.astype("i1") - 1, {"num_classes": 4}, "found -1 to 2, expected 0 to 3"),
        (IMAGES, LABELS, {"num_classes": 1}, "num_classes must be 2 or more, but got 1"),
        (IMAGES, LABELS, {"max_value": 0}, "max_value must be greater than 0, but got 0"),
    ],
)
def test_mismatched_files_are_rejected(tmp_path, images, labels, arguments, text):
    write_idx(tmp_path / "images", images)
    write_idx(tmp_path / "labels", labels)
    with pytest.raises(ValueError, match=text):
        idx(tmp_path / "images", tmp_path / "labels", **arguments)


def test_arrays_keep_the_dtype_of_the_file(files):
    with tf.Graph().as_default() as graph:
        tf.compat.v1.data.make_initializable_iterator(idx(*files, num_classes=4))
        assert graph.as_graph_def().ByteSize() < 50_000
