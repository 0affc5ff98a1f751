"""Folders of pictures, one for each class.

These tests cover `pipeline/options.py`.
"""

import numpy as np
import pytest
import tensorflow as tf
import tiers
from PIL import Image

from input_fns import image_folder

LABELS = ["dog", "cat", "bird"]
FILES = {"dog": 4, "cat": 5, "bird": 3}  # number of pictures in each folder
RANDOM = np.random.default_rng(0)


def jpeg(pixels):
    return tf.io.encode_jpeg(pixels, quality=95).numpy()


def noise(height=20, width=30, channels=3):
    return RANDOM.integers(0, 256, [height, width, channels], np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Writes folders of JPEG files; each picture has a unique grey value."""
    root = tmp_path_factory.mktemp("pictures")
    value = 0
    for name, count in FILES.items():
        (root / name).mkdir()
        for number in range(count):
            value += 15
            pixels = np.full([10 + number, 12, 3], value, np.uint8)
            (root / name / f"{number}.jpeg").write_bytes(jpeg(pixels))
    return root


def grey_values(batches):
    """Returns the grey value of each picture, which identifies its file."""
    return [round(float(p.mean()) * 255 / 15) for pictures, _ in batches for p in pictures]


IN_ORDER = [*range(10, 13), *range(5, 10), *range(1, 5)]  # bird, cat, dog


def test_each_epoch_has_every_file_once_with_the_label_of_its_folder(elements, folder):
    found = elements(
        lambda: image_folder(f"{folder}/*/*.jpeg", LABELS, (8, 6), batch_size=5, num_epochs=1)
    )
    assert [pictures.shape for pictures, _ in found] == [(5, 8, 6, 3), (5, 8, 6, 3), (2, 8, 6, 3)]
    assert found[0][0].dtype == found[0][1].dtype == np.float32
    assert grey_values(found) == IN_ORDER
    labels = np.concatenate([labels for _, labels in found])
    np.testing.assert_array_equal(labels, np.eye(3)[[2] * 3 + [1] * 5 + [0] * 4])


def as_in_the_tutorial(file, size):
    image = tf.image.decode_jpeg(tf.io.read_file(str(file)), channels=3)
    image = tf.image.convert_image_dtype(image, dtype=tf.float32)
    return tf.image.resize(image, size).numpy()


@pytest.mark.parametrize(
    ("size", "channels"),
    tiers.every(
        3, [((7, 9), 3), ((20, 30), 3), ((40, 41), 3), ((20, 30), 1), ((7, 9), 1), ((40, 41), 1)]
    ),
)
def test_pictures_are_decoded_scaled_and_resized(tmp_path, size, channels):
    file = tmp_path / "a" / "x.jpeg"
    file.parent.mkdir()
    file.write_bytes(jpeg(noise(channels=channels)))
    ((pictures, _),) = image_folder(file, ["a"], size, batch_size=1, num_epochs=1, full_decode=True)
    np.testing.assert_allclose(pictures[0], as_in_the_tutorial(file, size), atol=1e-5)


@pytest.mark.parametrize(
    "kind",
    tiers.every(3, ["PNG RGB", "PNG L", "PNG P", "BMP RGB", "PNG RGBA", "JPEG CMYK", "GIF P"]),
)
def test_png_gif_and_bmp_files_are_read(tmp_path, kind):
    form, mode = kind.split()
    file = tmp_path / "a" / "x"
    file.parent.mkdir()
    pixels = np.full([6, 6, 3], 153, np.uint8)  # a colour of the usual palette
    Image.fromarray(pixels).convert(mode).save(file, form)
    ((pictures, _),) = image_folder(file, ["a"], (4, 4), batch_size=1, num_epochs=1)
    np.testing.assert_allclose(pictures[0], np.full([4, 4, 3], 0.6), atol=0.01)


def test_an_animation_gives_its_first_frame(tmp_path):
    frames = [Image.fromarray(np.full([5, 5, 3], v, np.uint8)) for v in (0, 255)]
    file = tmp_path / "a" / "x.gif"
    file.parent.mkdir()
    frames[0].save(file, save_all=True, append_images=frames[1:])
    ((pictures, _),) = image_folder(file, ["a"], (2, 2), batch_size=1, num_epochs=1)
    assert pictures.numpy().max() < 0.01


def test_num_epochs_none_repeats_indefinitely(elements, folder):
    found = elements(lambda: image_folder(f"{folder}/*/*", LABELS, (2, 2), batch_size=12), 3)
    assert grey_values(found) == IN_ORDER * 3


@pytest.mark.parametrize("buffer_size", tiers.first({4}, [None, 4, 4096]))
def test_each_epoch_has_every_file_once_in_a_new_order(elements, folder, buffer_size):
    def order(seed):
        pattern = f"{folder}/*/*"
        return grey_values(
            elements(
                lambda: image_folder(pattern, LABELS, (2, 2), True, 6, 3, buffer_size, seed=seed)
            )
        )

    found = order(3)
    epochs = [found[:12], found[12:24], found[24:]]
    assert [sorted(epoch) for epoch in epochs] == [sorted(IN_ORDER)] * 3
    assert len({tuple(epoch) for epoch in [*epochs, IN_ORDER]}) == 4
    assert found == order(3) != order(4)


def test_a_small_buffer_still_mixes_the_classes(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number in range(60):
            (tmp_path / name / f"{number}.png").write_bytes(
                tf.io.encode_png(np.zeros([1, 1, 3], np.uint8)).numpy()
            )
    dataset = image_folder(
        f"{tmp_path}/*/*", ["a", "b"], (1, 1), True, 40, 1, buffer_size=2, seed=0
    )
    for _, labels in dataset:
        assert 8 <= labels.numpy()[:, 0].sum() <= 32


def test_the_size_of_batches_is_static_if_the_remainder_is_dropped(elements, folder):
    def make():
        return image_folder(
            f"{folder}/*/*", LABELS, (2, 2), batch_size=5, num_epochs=1, drop_remainder=True
        )

    assert [spec.shape.as_list() for spec in make().element_spec] == [[5, 2, 2, 3], [5, 3]]
    assert make().cardinality().numpy() == 2
    assert grey_values(elements(make)) == IN_ORDER[:10]


def test_files_are_named_outside_the_graph(folder):
    with tf.Graph().as_default() as graph:
        tf.compat.v1.data.make_initializable_iterator(image_folder(f"{folder}/*/*", LABELS))
        assert b"0.jpeg" not in graph.as_graph_def().SerializeToString()


def test_the_position_can_be_saved_and_restored(folder, tmp_path, restored_elements):
    wanted, found = restored_elements(
        lambda: image_folder(f"{folder}/*/*", LABELS, (2, 2), True, 5, seed=1),
        tmp_path / "position",
        before=4,
        after=6,
    )
    assert grey_values(found) == grey_values(wanted)


def test_a_monitored_session_starts_the_input(folder):
    with tf.Graph().as_default():
        tf.compat.v1.train.create_global_step()
        iterator = tf.compat.v1.data.make_initializable_iterator(
            image_folder(f"{folder}/*/*", LABELS, (2, 2), batch_size=12, num_epochs=2)
        )
        tf.compat.v1.add_to_collection(
            tf.compat.v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer
        )
        element = iterator.get_next()
        found = []
        with tf.compat.v1.train.MonitoredTrainingSession() as session:
            while not session.should_stop():
                found.append(session.run(element))
    assert grey_values(found) == IN_ORDER * 2


WHOLE = jpeg(noise())
PNG = tf.io.encode_png(noise()).numpy()
BAD = {
    "half": (WHOLE[: len(WHOLE) // 2], "begins like a JPEG file, but is cut short or damaged"),
    "no end": (WHOLE[:-2], "begins like a JPEG file, but is cut short or damaged"),
    "header": (WHOLE[:30], "begins like a JPEG file, but is cut short or damaged"),
    "start": (WHOLE[:4] + bytes(60) + WHOLE[-2:], "begins like a JPEG file, but is"),
    "png": (PNG[: len(PNG) // 2], "is not a JPEG, PNG, BMP or GIF file, or is damaged"),
    "text": (b"<html>404 not found</html>", "is not a JPEG, PNG.*26 bytes"),
    "empty": (b"", r"is not a JPEG, PNG.*\(0 bytes\)"),
}


@pytest.fixture
def two_folders(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number in range(6):
            (tmp_path / name / f"{number}.jpg").write_bytes(jpeg(noise()))
    return tmp_path


def from_two_folders(folders):
    return image_folder(f"{folders}/*/*", ["a", "b"], (4, 4), batch_size=4, num_epochs=1)


@pytest.mark.parametrize("fault", tiers.every(6, BAD))
def test_a_bad_file_is_named_among_good_ones(two_folders, fault):
    content, text = BAD[fault]
    (two_folders / "b" / "3.jpg").write_bytes(content)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text) as error:
        list(from_two_folders(two_folders))
    assert f"{two_folders}/b/3.jpg cannot be read as a picture" in str(error.value)
    assert "replace or remove it" in str(error.value)


def test_batches_before_a_bad_file_are_returned(elements, two_folders):
    (two_folders / "b" / "3.jpg").write_bytes(WHOLE[:-40])
    assert len(elements(lambda: from_two_folders(two_folders), limit=2)) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="/b/3.jpg cannot be read"):
        elements(lambda: from_two_folders(two_folders), limit=3)


@pytest.mark.parametrize("becomes", tiers.first({"nothing"}, ["nothing", "a folder"]))
def test_a_file_that_cannot_be_opened_is_named(two_folders, becomes):
    dataset = from_two_folders(two_folders)
    file = two_folders / "a" / "2.jpg"
    file.unlink()
    if becomes == "a folder":
        file.mkdir()
    with pytest.raises(tf.errors.InvalidArgumentError, match="a/2.jpg cannot be read: "):
        list(dataset)


def test_a_file_repaired_before_the_retry_is_read(two_folders):
    broken = two_folders / "a" / "0.jpg"
    broken.write_bytes(b"not yet")
    dataset = from_two_folders(two_folders)
    broken.write_bytes(jpeg(noise()))
    assert sum(len(labels) for _, labels in dataset) == 12


def test_a_pattern_without_files_is_named(two_folders):
    with pytest.raises(FileNotFoundError, match=r"'.*/\*/\*\.png'.*exists, but contains no"):
        image_folder(f"{two_folders}/*/*.png", ["a", "b"])
    with pytest.raises(ValueError, match=f"'{two_folders}/a' matches a folder: it must match pic"):
        image_folder(f"{two_folders}/a", ["a", "b"])
    with pytest.raises(FileNotFoundError, match="there is no folder '.*/train'"):
        image_folder(f"{two_folders}/train/*/*.jpg", ["a", "b"])


def test_an_unknown_folder_is_named_before_any_file_is_read(two_folders):
    with pytest.raises(ValueError, match=r"not in labels: 'b' \(with .*b/5.jpg\)\.") as error:
        image_folder(f"{two_folders}/*/*", ["a", "c"])
    assert "Allowed are 'a', 'c'." in str(error.value)


def test_many_unknown_folders_are_counted(tmp_path):
    for number in range(8):
        (tmp_path / f"x{number}").mkdir()
        (tmp_path / f"x{number}" / "1.jpg").write_bytes(WHOLE)
    with pytest.raises(ValueError, match=r"'x0' .*'x4' \(with \S*\) and 3 more\. Allowed"):
        image_folder(f"{tmp_path}/*/*", ["a"])


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"labels": "dog"}, TypeError, "labels must be a list of folder names, but got 'dog'"),
        ({"labels": [1, 2]}, TypeError, r"labels must be a list of folder names.*\[1, 2\]"),
        ({"labels": []}, ValueError, "labels must name at least one folder"),
        ({"labels": ["dog", "cat", "dog"]}, ValueError, r"unique, but it has \['dog'\]"),
        ({"image_size": 224}, TypeError, r"image_size must be \(height, width\), but got 224"),
        ({"image_size": (1, 2, 3)}, TypeError, r"image_size must be.*\(1, 2, 3\)"),
        ({"image_size": (0, 2)}, ValueError, r"image_size\[0\] must be 1 or more, but got 0"),
        ({"batch_size": 0}, ValueError, "batch_size must be 1 or more, but got 0"),
        ({"num_epochs": 0}, ValueError, "num_epochs must be 1 or more"),
        ({"buffer_size": 0}, ValueError, "buffer_size must be 1 or more"),
        ({"file_pattern": None}, TypeError, "file_pattern must be a path, but got None"),
    ],
)
def test_bad_arguments_are_named_with_their_value(folder, arguments, error, text):
    with pytest.raises(error, match=text):
        image_folder(**{"file_pattern": f"{folder}/*/*", "labels": LABELS, **arguments})
