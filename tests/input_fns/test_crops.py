"""Crops of pictures: their positions, and that only the cropped part is decoded."""

import numpy as np
import pytest
import tensorflow as tf
import tiers
from PIL import Image

from input_fns import image_folder

SIZE = (16, 16)


def ramp(height, width):
    """Returns a picture whose red and green are proportional to the column and the row."""
    rows, columns = np.mgrid[0:height, 0:width]
    blue = np.full([height, width], 128)
    return np.uint8(np.stack([columns / width * 255, rows / height * 255, blue], -1))


def write(folder, kind, *pictures):
    (folder / "a").mkdir()
    for number, pixels in enumerate(pictures):
        Image.fromarray(pixels).save(folder / "a" / f"{number}.x", kind, quality=95)


def dataset(folder, **settings):
    return image_folder(
        f"{folder}/a/*", ["a"], SIZE, **{"batch_size": 2, "num_epochs": 1, **settings}
    )


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
@pytest.mark.parametrize("full_decode", tiers.every(2, [False, True]))
def test_center_crops_keep_proportions(tmp_path, kind, full_decode):
    write(tmp_path, kind, ramp(64, 160), ramp(200, 50))
    ((found, _),) = dataset(tmp_path, crop="center", full_decode=full_decode)
    for picture, pixels, top, left, side in (
        (found[0], ramp(64, 160), 0, 48, 64),
        (found[1], ramp(200, 50), 75, 0, 50),
    ):
        wanted = tf.image.resize(pixels[top : top + side, left : left + side], SIZE).numpy() / 255
        np.testing.assert_allclose(picture, wanted, atol=0.06)
        assert np.abs(picture - wanted).mean() < 0.02


def parts(batches):
    """Returns the width and the position of each crop, relative to the picture."""
    found = []
    for pictures, _ in batches:
        red, green = pictures.numpy().mean(1)[..., 0], pictures.numpy().mean(2)[..., 1]
        step = (red[:, -1] - red[:, 0]) / (SIZE[1] - 1)
        found.append(np.stack([step * SIZE[1], red.mean(1), green.mean(1)], -1))
    return np.concatenate(found)


def test_random_crops_differ_in_size_and_position(tmp_path):
    write(tmp_path, "JPEG", ramp(160, 160), ramp(160, 160))
    found = parts(dataset(tmp_path, crop="random", crop_area=0.25, num_epochs=50, seed=1))
    widths, places = found[:, 0], found[:, 1:]
    assert 0.45 < widths.min() < 0.55
    assert 0.9 < widths.max() < 1.05
    assert places.std(0).min() > 0.05
    assert np.all(np.abs(places - 0.5) < 0.55 - widths[:, None] / 2)  # Within the picture.
    # The scale of decoding leaves not every place apart.
    assert len(np.unique(np.round(found, 4), axis=0)) > 50


@pytest.mark.long
def test_random_crops_depend_on_seed_and_position(tmp_path, restored_elements):
    write(tmp_path, "PNG", *[ramp(40, 40)] * 5)

    def make():
        return dataset(tmp_path, crop="random", shuffle=True, num_epochs=None, seed=3)

    wanted, found = restored_elements(make, tmp_path / "position", before=4, after=3)
    np.testing.assert_array_equal(
        [pictures for pictures, _ in found], [pictures for pictures, _ in wanted]
    )
    again = [pictures.numpy() for pictures, _ in make().skip(4).take(3)]
    np.testing.assert_array_equal(again, [p.numpy() for p, _ in make().skip(4).take(3)])


def test_pictures_smaller_than_the_size_are_enlarged(tmp_path):
    write(tmp_path, "JPEG", ramp(1, 1), ramp(5, 9))
    ((found, _),) = dataset(tmp_path, crop="random")
    assert found.shape == (2, *SIZE, 3)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"crop": "left"}, "crop must be one of .*'center'.*'left'"),
        ({"crop": "random", "crop_area": 0}, "crop_area must be above 0 and at most 1, but got 0"),
        ({"crop": "random", "crop_area": 1.5}, "crop_area must be.*1.5"),
        ({"crop": "random", "cache": "memory"}, "a cache would repeat the first"),
    ],
)
def test_bad_crops_are_named(tmp_path, settings, text):
    write(tmp_path, "PNG", ramp(4, 4))
    with pytest.raises(ValueError, match=text):
        dataset(tmp_path, **settings)
