"""Reduced decoding, and the cache of decoded pictures.

These tests cover `pictures/decoding.py`.
"""

import errno
import os
import re
import resource

import numpy as np
import pytest
import tensorflow as tf
import tiers
from PIL import Image

from input_fns import image_folder
from input_fns.pipeline import row_cache


def photograph(height, width, channels=3, seed=0):
    """Returns a smooth picture with noise, like a photograph."""
    random = np.random.default_rng(seed)
    coarse = tf.image.resize(random.uniform(0, 255, [6, 8, channels]), [height, width], "bicubic")
    return np.uint8(np.clip(coarse + random.normal(0, 3, [height, width, channels]), 0, 255))


def write_jpegs(folder, pictures):
    (folder / "a").mkdir(exist_ok=True)
    for number, pixels in enumerate(pictures):
        path = folder / "a" / f"{number:03}.jpeg"
        path.write_bytes(tf.io.encode_jpeg(pixels, quality=95).numpy())


def read(folder, size, **settings):
    arguments = {"batch_size": 4, "num_epochs": 1, **settings}
    return np.concatenate(
        [p.numpy() for p, _ in image_folder(f"{folder}/*/*", ["a"], size, **arguments)]
    )


SIZES = [(224, 224), (100, 60), (32, 32), (256, 248), (600, 500)]


@pytest.mark.parametrize(
    ("size", "channels"),
    tiers.every(10, [(size, channels) for channels in (3, 1) for size in SIZES]),
)
def test_reduced_decoding_is_within_its_tolerance(tmp_path, channels, size):
    write_jpegs(tmp_path, [photograph(512, 496, channels)])
    full, reduced = read(tmp_path, size, full_decode=True), read(tmp_path, size)
    difference = np.abs(full - reduced)
    assert difference.mean() < 0.02
    assert (difference.max() == 0) == (size == (600, 500))  # Nothing to reduce.


@pytest.mark.parametrize(
    ("shape", "size", "ratio"),
    [
        ((512, 496), (256, 248), 2),
        ((512, 496), (257, 1), 1),
        ((511, 9), (65, 2), 4),
        ((64, 64), (8, 8), 8),
    ],
)
def test_the_scale_is_the_smallest_that_covers_the_size(tmp_path, shape, size, ratio):
    write_jpegs(tmp_path, [photograph(*shape)])
    contents = (tmp_path / "a" / "000.jpeg").read_bytes()
    wanted = tf.image.resize(tf.io.decode_jpeg(contents, 3, ratio=ratio), size) / 255
    np.testing.assert_allclose(read(tmp_path, size)[0], wanted, atol=1e-6)


@pytest.mark.long
def test_the_exact_transform_gives_slightly_different_values(tmp_path):
    write_jpegs(tmp_path, [photograph(100, 100)])
    exact, fast = (read(tmp_path, (100, 100), exact_dct=exact) for exact in (False, True))
    assert 0 < np.abs(exact - fast).max() < 0.05


def test_grey_pictures_are_read_as_one_channel_in_graphs_too(elements, tmp_path):
    write_jpegs(tmp_path, [photograph(30, 30, 1), photograph(30, 30, 3)])
    settings = {"batch_size": 2, "num_epochs": 1, "mixed_channels": True}
    ((found, _),) = elements(lambda: image_folder(f"{tmp_path}/*/*", ["a"], (30, 30), **settings))
    contents = [path.read_bytes() for path in sorted((tmp_path / "a").iterdir())]
    wanted = [tf.io.decode_jpeg(content, 3) / 255 for content in contents]
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("form", ["jpeg", "png"])
@pytest.mark.parametrize("channels", [1, 3])
def test_grey_pictures_among_coloured_ones_are_named(tmp_path, form, channels):
    write_jpegs(tmp_path, [photograph(30, 30, channels, seed) for seed in range(3)])
    other = tmp_path / "a" / f"other.{form}"
    encode = {"jpeg": tf.io.encode_jpeg, "png": tf.io.encode_png}[form]
    other.write_bytes(encode(photograph(30, 30, 4 - channels)).numpy())
    kinds = ("grey", "coloured") if channels == 3 else ("coloured", "grey")
    named = f"{other} is a {kinds[0]} picture, but the first picture of the folders is {kinds[1]}: "
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(named + "remove it, or")):
        read(tmp_path, (30, 30))
    assert len(read(tmp_path, (30, 30), on_bad_record="skip")) == 3
    mixed = read(tmp_path, (30, 30), mixed_channels=True)
    assert len(mixed) == 4
    np.testing.assert_allclose(mixed[:3], read(tmp_path, (30, 30), on_bad_record="skip"))


@pytest.mark.parametrize("mode", tiers.every(3, ["RGBA", "L", "LA"]))
def test_opacity_is_ignored(tmp_path, mode):
    pixels = photograph(30, 30)
    (tmp_path / "a").mkdir()
    picture = Image.fromarray(pixels).convert(mode)
    picture.save(tmp_path / "a" / "x.png")
    wanted = np.asarray(picture.convert("L" if "L" in mode else "RGB"), np.float32) / 255
    np.testing.assert_allclose(
        read(tmp_path, (30, 30))[0], wanted.reshape(30, 30, -1) + np.zeros(3), atol=1e-6
    )


@pytest.fixture
def folder(tmp_path):
    write_jpegs(tmp_path, [photograph(40, 50, seed=seed) for seed in range(10)])
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("kind", tiers.first({"memory"}, ["memory", "file"]))
def test_cached_pictures_are_the_same_in_each_epoch_and_order(folder, kind):
    cache = "memory" if kind == "memory" else folder / "cache"
    plain = read(folder, (20, 20))
    found = read(folder, (20, 20), num_epochs=3, cache=cache)
    np.testing.assert_allclose(found, np.tile(plain, [3, 1, 1, 1]), atol=0.5001 / 255)
    shuffled = read(folder, (20, 20), num_epochs=2, cache=cache, shuffle=True, seed=1)
    by_sum = sorted(found[:10].sum((1, 2, 3)))
    for epoch in (shuffled[:10], shuffled[10:]):
        np.testing.assert_allclose(sorted(epoch.sum((1, 2, 3))), by_sum, rtol=1e-6)


def test_from_the_second_epoch_on_files_are_not_read(folder):
    batches = iter(image_folder(f"{folder}/*/*", ["a"], (8, 8), batch_size=5, cache="memory"))
    # A batch may have begun before that with the same pictures was done.
    first = [next(batches)[0] for _ in range(12)][:2]
    for path in (folder / "a").iterdir():
        path.unlink()
    for _ in range(50):  # More than the number that was read ahead.
        np.testing.assert_array_equal(next(batches)[0], first[0])
        np.testing.assert_array_equal(next(batches)[0], first[1])


@pytest.mark.long
def test_a_cache_file_is_reused_by_later_processes_and_in_graphs(folder):
    cache = folder / "cache"
    first = read(folder, (8, 8), cache=cache)
    stats = {path: path.stat() for path in (folder / "a").iterdir()}
    for path, stat in stats.items():  # As long and as old, but no pictures any more.
        path.write_bytes(b"x" * stat.st_size)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = image_folder(f"{folder}/*/*", ["a"], (8, 8), batch_size=10, cache=cache)
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        session.run(iterator.initializer)
        found, _ = session.run(iterator.get_next())
    np.testing.assert_array_equal(found, first)


@pytest.mark.parametrize(
    "change", tiers.every(4, ["more files", "another size", "another file", "another way"])
)
def test_a_cache_of_other_data_is_rejected(folder, change):
    cache = folder / "cache"
    read(folder, (8, 8), cache=cache)
    before = cache.read_bytes()
    size, settings = (8, 8), {}
    if change == "more files":
        (folder / "a" / "x.jpeg").write_bytes((folder / "a" / "000.jpeg").read_bytes())
    elif change == "another file":
        (folder / "a" / "000.jpeg").write_bytes((folder / "a" / "001.jpeg").read_bytes())
    elif change == "another size":
        size = (9, 8)
    else:
        settings = {"full_decode": True}
    with pytest.raises(ValueError, match=f"Cache file {cache} belongs to other data.* Remove it"):
        read(folder, size, cache=cache, **settings)
    assert cache.read_bytes() == before


@pytest.mark.parametrize(
    ("contents", "message"), [(b"", "is not a cache"), (b"hello", "is not a cache")]
)
def test_other_files_are_rejected_as_a_cache(folder, contents, message):
    (folder / "cache").write_bytes(contents)
    with pytest.raises(ValueError, match=message):
        read(folder, (8, 8), cache=folder / "cache")
    assert (folder / "cache").read_bytes() == contents


def test_a_truncated_cache_is_rejected(folder):
    read(folder, (8, 8), cache=folder / "cache")
    os.truncate(folder / "cache", 5000)
    with pytest.raises(ValueError, match="is damaged: it has 5000 bytes"):
        read(folder, (8, 8), cache=folder / "cache")


_FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_failed_cache_creation_leaves_no_file(folder, monkeypatch):
    monkeypatch.setattr(row_cache.os, "replace", lambda *_: (_ for _ in ()).throw(_FULL))
    with pytest.raises(OSError, match="cannot be created: No space left") as caught:
        read(folder, (8, 8), cache=folder / "cache")
    assert caught.value.filename == str(folder / "cache")
    assert [path.name for path in folder.iterdir()] == ["a"]


def test_a_row_that_the_disk_took_only_in_part_is_not_cached(tmp_path):
    cache = row_cache.FileCache(str(tmp_path / "cache"), 2, (8, 8, 3), "contents")
    size, limits = (tmp_path / "cache").stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size - 100, limits[1]))
    try:
        with pytest.raises(OSError, match="No space left") as caught:
            cache.write(np.array([1]), np.ones([1, 8, 8, 3], np.uint8))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(tmp_path / "cache")
    assert not cache.has(np.array([1]))


@pytest.mark.long
def test_bad_pictures_are_skipped_counted_and_listed(folder):
    for number in (2, 7):
        (folder / "a" / f"{number:03}.jpeg").write_bytes(b"no picture")
    plain = read(folder, (8, 8), on_bad_record="skip", num_epochs=2, batch_size=4)
    assert plain.shape == (16, 8, 8, 3)
    log = folder / "bad.txt"
    settings = {"on_bad_record": "skip", "bad_records_file": log, "max_bad_records": 3}
    assert len(read(folder, (8, 8), **settings)) == 8
    lines = sorted(log.read_text().splitlines())
    assert [line.split(" cannot be read")[0][-8:] for line in lines] == ["002.jpeg", "007.jpeg"]
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"4 bad records are more than max_bad_records=3; the last: .*00[27].jpeg cannot",
    ):
        read(folder, (8, 8), num_epochs=2, **settings)


@pytest.mark.long
def test_the_number_of_skipped_pictures_is_a_summary(folder):
    (folder / "a" / "000.jpeg").write_bytes(b"no picture")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = image_folder(f"{folder}/*/*", ["a"], (8, 8), batch_size=9, on_bad_record="skip")
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset.prefetch(0))
        session.run(iterator.initializer)
        for _ in range(2):
            session.run(iterator.get_next())
        (summary,) = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SUMMARIES)
        (value,) = tf.compat.v1.Summary.FromString(session.run(summary)).value
    assert value.tag == "input/skipped_records"
    assert value.simple_value >= 2


def test_pipelines_with_a_context_share_all_pictures(folder):
    def files(number, pipelines):
        context = tf.distribute.InputContext(pipelines, number)
        settings = {"input_context": context, "shuffle": True, "num_epochs": 1}
        return read(folder, (4, 4), **settings).reshape(-1, 48)

    parts = np.concatenate([files(number, 3) for number in range(3)])
    assert parts.shape == (10, 48)
    whole = read(folder, (4, 4)).reshape(-1, 48)
    np.testing.assert_array_equal(parts[np.lexsort(parts.T)], whole[np.lexsort(whole.T)])
