"""TFRecord files: order, shards, damage, compression.

These tests cover `pipeline/guard.py`, `records/inflated.py` and `records/stream.py`.
"""

import numpy as np
import pytest
import tensorflow as tf
import tiers

from input_fns import PipelineOptions, tfrecords

SPEC = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "x": tf.io.FixedLenFeature([2], tf.float32),
    "tags": tf.io.VarLenFeature(tf.int64),
    "y": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
}
FILES, ROWS = 3, 40  # rows in each file


def feature(values):
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def example(number, **changes):
    parts = {
        "id": [number],
        "x": [number / 2, 1.0],
        "tags": [7] * (number % 3),
        "y": [number % 2],
    }
    features = {name: feature(v) for name, v in {**parts, **changes}.items() if v}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def write(path, records, compression=None):
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            writer.write(record)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("records")
    for number in range(FILES):
        write(root / f"{number}.tfrecord", [example(number * ROWS + row) for row in range(ROWS)])
    return root


def ids(batches):
    return [
        int(i)
        for features in batches
        for i in (features[0] if isinstance(features, tuple) else features)["id"]
    ]


def read(elements, folder, **settings):
    arguments = {"batch_size": 16, "num_epochs": 1, **settings}
    return elements(lambda: tfrecords(f"{folder}/*.tfrecord", SPEC, "y", **arguments))


def test_every_example_comes_once_an_epoch_with_its_label(elements, folder):
    found = read(elements, folder)
    assert [len(labels) for _, labels in found] == [16] * 7 + [8]
    assert sorted(ids(found)) == [*range(FILES * ROWS)]
    for features, labels in found:
        np.testing.assert_array_equal(features["id"] % 2, labels)
        np.testing.assert_array_equal(features["x"][:, 0], features["id"] / 2)


def test_variable_length_features_are_sparse(folder):
    (features,) = tfrecords(f"{folder}/*", SPEC, batch_size=120, num_epochs=1)
    lengths = tf.math.bincount(features["tags"].indices[:, 0], minlength=120)
    np.testing.assert_array_equal(lengths, features["id"] % 3)


@pytest.mark.parametrize(
    ("buffer_size", "cache"), tiers.every(3, [(10, None), (None, None), (1000, "memory")])
)
def test_each_epoch_has_a_new_order(elements, folder, buffer_size, cache):
    def order(seed):
        settings = {"num_epochs": 3, "buffer_size": buffer_size, "cache": cache}
        found = ids(read(elements, folder, shuffle=True, seed=seed, **settings))
        return [tuple(found[start : start + 120]) for start in (0, 120, 240)]

    found = order(3)
    assert [sorted(epoch) for epoch in found] == [[*range(120)]] * 3
    assert len({*found, tuple(range(120))}) == 4
    assert found == order(3) != order(4)


def test_batches_cross_epochs_indefinitely(elements, folder):
    dataset = lambda: tfrecords(f"{folder}/*", SPEC, batch_size=50)  # noqa: E731
    assert [len(features["id"]) for features in elements(dataset, 7)] == [50] * 7


@pytest.mark.parametrize("pipelines", tiers.first({2}, [2, 3]))
@pytest.mark.parametrize("shuffle", tiers.first({True}, [False, True]))
def test_pipelines_share_no_example_and_miss_none(elements, folder, pipelines, shuffle):
    parts = []
    for number in range(pipelines):
        context = tf.distribute.InputContext(pipelines, number)
        parts += ids(read(elements, folder, input_context=context, shuffle=shuffle))
    assert sorted(parts) == [*range(FILES * ROWS)]


@pytest.mark.parametrize(("compression", "ending"), [("GZIP", "gz"), ("ZLIB", "zz")])
def test_compressed_files_are_read(elements, tmp_path, compression, ending):
    write(tmp_path / f"a.{ending}", [example(n) for n in range(5)], compression)
    found = elements(lambda: tfrecords(f"{tmp_path}/*", SPEC, num_epochs=1))
    assert ids(found) == [*range(5)]


def test_the_position_can_be_saved_and_restored(folder, tmp_path, restored_elements):
    def dataset():
        return tfrecords(f"{folder}/*", SPEC, batch_size=7, shuffle=True, buffer_size=30)

    wanted, found = restored_elements(dataset, tmp_path / "position", before=11, after=9)
    assert ids(found) == ids(wanted)


def test_options_can_be_passed_in_one_object(folder):
    options = PipelineOptions(batch_size=120, num_epochs=1)
    ((features, _),) = tfrecords(f"{folder}/*", SPEC, "y", options=options)
    assert len(features["id"]) == 120


BAD = {
    "missing": (example(5, x=None), "feature x is missing; the record has id, tags, y"),
    "too many": (example(5, x=[1.0, 2.0, 3.0]), "feature x has 3 values, expected 2"),
    "other type": (example(5, id=[1.0]), "feature id has type float32, expected int64"),
    "no example": (b"\xff\xff\xff", "is not a tf.train.Example (3 bytes)"),
}


@pytest.mark.parametrize("kind", tiers.every(2, BAD))
def test_a_bad_record_is_named(elements, tmp_path, kind):
    record, text = BAD[kind]
    write(tmp_path / "a", [*(example(n) for n in range(5)), record, example(6)])
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        elements(lambda: tfrecords(tmp_path / "a", SPEC, num_epochs=1))
    assert f"{tmp_path}/a, record 6: {text}" in str(caught.value)


def test_bad_records_are_skipped(elements, tmp_path):
    records = [example(n) for n in range(10)]
    records[3], records[4] = BAD["missing"][0], BAD["other type"][0]
    write(tmp_path / "a", records)
    settings = {"on_bad_record": "skip", "bad_records_file": tmp_path / "bad.txt"}
    found = elements(
        lambda: tfrecords(tmp_path / "a", SPEC, batch_size=4, num_epochs=1, **settings)
    )
    assert ids(found) == [0, 1, 2, 5, 6, 7, 8, 9]
    assert [len(features["id"]) for features in found] == [4, 4]
    lines = sorted((tmp_path / "bad.txt").read_text().splitlines())
    assert [line.split(": ")[0] for line in lines] == [f"{tmp_path}/a, record {n}" for n in (4, 5)]


def damaged(path, how, compression=None):
    write(path, [example(n) for n in range(300)], compression)
    contents = bytearray(path.read_bytes())
    if how == "cut":
        contents = contents[: len(contents) // 2]
    elif how == "checksum":
        contents[len(contents) // 2] ^= 255
    else:
        contents = b"this is no TFRecord file"
    path.write_bytes(contents)


@pytest.mark.parametrize("how", ["cut", "checksum", "text"])
def test_a_damaged_file_is_named_with_the_place(elements, tmp_path, how):
    damaged(tmp_path / "a", how)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        elements(lambda: tfrecords(tmp_path / "a", SPEC, num_epochs=1))
    record = 1 if how == "text" else 150
    start = str(caught.value).partition(f"{tmp_path}/a, record ")[2]
    assert abs(int(start.partition(":")[0]) - record) < 5
    assert "the file is cut short or damaged" in start


@pytest.mark.parametrize("how", ["cut", "checksum", "text"])
def test_records_before_the_damage_are_kept_if_bad_records_are_skipped(elements, tmp_path, how):
    damaged(tmp_path / "a", how)
    write(tmp_path / "b", [example(n) for n in range(1000, 1010)])
    found = ids(
        elements(lambda: tfrecords(f"{tmp_path}/?", SPEC, num_epochs=1, on_bad_record="skip"))
    )
    whole = found.index(1000)
    assert sorted(found) == [*range(len(found) - 10), *range(1000, 1010)]
    assert whole < 300
    assert (len(found) == 10) == (how == "text")


@pytest.mark.parametrize("compression", tiers.first({"GZIP"}, ["GZIP", "ZLIB"]))
@pytest.mark.parametrize("how", tiers.first({"cut"}, ["cut", "checksum", "text"]))
def test_a_damaged_compressed_file_is_named_or_skipped(elements, tmp_path, how, compression):
    damaged(tmp_path / "a", how, compression)
    write(tmp_path / "b", [example(n) for n in range(1000, 1010)], compression)

    def found(**settings):
        settings = {"compression": compression, "num_epochs": 1, **settings}
        return ids(elements(lambda: tfrecords(f"{tmp_path}/?", SPEC, **settings)))

    reason = "looks like one of compression=" if how == "text" else "damaged"
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{tmp_path}/a, record .*{reason}"):
        found()
    left = found(on_bad_record="skip")
    read = left.index(1000)
    assert left == [*range(read), *range(1000, 1010)]
    assert read < 300


def test_a_compressed_file_of_several_streams_is_complete(elements, tmp_path):
    write(tmp_path / "a.gz", [example(n) for n in range(5)], "GZIP")
    (tmp_path / "a.gz").write_bytes((tmp_path / "a.gz").read_bytes() * 2)
    found = elements(lambda: tfrecords(tmp_path / "a.gz", SPEC, num_epochs=1))
    assert ids(found) == [*range(5), *range(5)]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"features": {}}, ValueError, "features must name at least one feature"),
        ({"label": "z"}, ValueError, "label 'z' is not among the features: id, x, tags, y"),
        ({"compression": "LZ4"}, ValueError, "compression must be one of"),
        ({"batch_size": 0}, ValueError, "batch_size must be 1 or more, but got 0"),
        ({"batch": 3}, TypeError, "There is no argument 'batch'. The settings"),
        ({"cache": "file"}, ValueError, "records of files are cached only in memory"),
        ({"on_bad_record": "warn"}, ValueError, "on_bad_record must be one of 'raise', 'skip'"),
        ({"input_context": 3}, TypeError, "input_context must be a tf.distribute.InputContext"),
        ({"file_pattern": "none/*"}, FileNotFoundError, "No file matches file_pattern 'none/"),
        ({"file_pattern": []}, ValueError, "file_pattern must name at least one file"),
        ({"bad_records_file": "no/x"}, FileNotFoundError, "bad_records_file='no/x': there is no"),
    ],
)
def test_bad_arguments_are_rejected(folder, arguments, error, message):
    settings = {"file_pattern": f"{folder}/*", "features": SPEC, **arguments}
    with pytest.raises(error, match=message):
        tfrecords(**settings)


def test_an_empty_file_is_rejected(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(ValueError, match=f"{tmp_path}/a is empty"):
        tfrecords(f"{tmp_path}/*", SPEC)


@pytest.mark.parametrize(
    ("written", "named", "text"),
    [
        ("GZIP", None, "the file looks like one of compression='GZIP', but compression is ''"),
        ("ZLIB", None, "the file looks like one of compression='ZLIB', but compression is ''"),
        ("", "GZIP", "the file looks like one of compression='', but compression is 'GZIP'"),
        ("Zstandard", None, "the file is compressed (Zstandard); decompress it"),
        # The first bytes of a record of 376 bytes are those of ZLIB.
        ("cut", None, "the file is cut short or damaged, or is not a TFRecord file"),
    ],
)
def test_another_compression_is_named(tmp_path, written, named, text):
    path = tmp_path / "rows-00000-of-00001"
    kind = written if written in ("GZIP", "ZLIB") else ""
    with tf.io.TFRecordWriter(str(path), tf.io.TFRecordOptions(kind)) as file:
        file.write(bytes(376))
    if written == "Zstandard":
        path.write_bytes(b"\x28\xb5\x2f\xfd" + path.read_bytes())
    if written == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    features = {"x": tf.io.FixedLenFeature([], tf.int64)}
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        list(tfrecords(path, features, compression=named, num_epochs=1))
    assert text in error.value.message.replace("\\'", "'")
