"""CSV files: headers, types, missing values, quotes.

These tests cover `records/text_blocks.py`.
"""

import gzip

import numpy as np
import pytest
import tensorflow as tf
import tiers

from input_fns import csv

TABLE = '''id,height,city,note
1,1.5,Bonn,"a, b"
2,,Köln,"say ""hi"""
3,2.5,,

4,3,Bonn,x
'''


@pytest.fixture(autouse=True, params=tiers.first({"blocks"}, ["blocks", "lines"]))
def _parser(request, monkeypatch):
    """Reads blocks of text, as for large files, or vectors of lines, as for small ones."""
    if request.param == "blocks":
        monkeypatch.setattr("input_fns.records.csv._MIN_BLOCKS_BYTES", 0)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def one(elements, *arguments, **settings):
    (found,) = elements(lambda: csv(*arguments, num_epochs=1, **settings))
    return found


def test_columns_and_types_are_inferred_from_the_file(elements, file):
    features, labels = one(elements, file, "id")
    np.testing.assert_array_equal(labels, np.int64([1, 2, 3, 4]))
    np.testing.assert_array_equal(features["height"], np.float32([1.5, 0, 2.5, 3]))
    assert [city.decode() for city in features["city"]] == ["Bonn", "Köln", "", "Bonn"]
    assert features["note"].tolist() == [b"a, b", b'say "hi"', b"", b"x"]
    assert labels.dtype == np.int64
    assert features["height"].dtype == np.float32


def test_integers_beyond_int64_stay_text_so_that_ids_stay_different(elements, tmp_path):
    ids = [b"18446744073709551557", b"18446744073709551533", b"5"]
    (tmp_path / "ids.csv").write_bytes(b"id,size\n" + b"".join(b"%b,1e30\n" % id for id in ids))
    features = one(elements, tmp_path / "ids.csv")
    assert features["id"].tolist() == ids
    assert features["size"].dtype == np.float32


@pytest.mark.parametrize(
    ("text", "found", "arguments"),
    [
        (b"1\nNA\n3\n", [1, 0, 3], {"na_value": "NA"}),
        (b"1.5\nNA\n", [1.5, 0.0], {"na_value": "NA"}),
        (b"1_000\n1\n", [b"1_000", b"1"], {}),  # A number only to Python.
    ],
)
def test_types_are_inferred_from_the_fields_as_tensorflow_reads_them(
    elements, tmp_path, text, found, arguments
):
    (tmp_path / "a").write_bytes(b"a\n" + text)
    assert one(elements, tmp_path / "a", **arguments)["a"].tolist() == found


def test_types_are_inferred_also_beside_text_that_is_not_utf8(elements, tmp_path):
    (tmp_path / "a").write_bytes("a,b\ncafé,1\nx,2\n".encode("latin-1"))
    rows = one(elements, tmp_path / "a")
    assert rows["a"].tolist() == [b"caf\xe9", b"x"]
    assert rows["b"].tolist() == [1, 2]


def test_types_defaults_and_columns_can_be_chosen(elements, file):
    features = one(
        elements,
        file,
        select=["id", "height"],
        types={"id": tf.float64, "height": tf.float64},
        defaults={"height": -1},
    )
    assert {name: values.dtype for name, values in features.items()} == {"id": "f8", "height": "f8"}
    np.testing.assert_array_equal(features["height"], [1.5, -1, 2.5, 3])


def test_a_byte_order_mark_is_no_part_of_the_first_column(elements, tmp_path):
    rows = {"a": '"id",word\r\n"1",x\r\n', "b": "id,word\n2,y\n", "c": "id,word\n3,\ufeffz\n"}
    for name, text in rows.items():
        mark = "" if name == "b" else "\ufeff"
        (tmp_path / f"{name}.csv").write_text(mark + text, encoding="utf-8")
        (tmp_path / f"{name}.bare").write_text(mark + text.partition("\n")[2], encoding="utf-8")
    features = one(elements, tmp_path / "*.csv")
    assert sorted(features["id"].tolist()) == [1, 2, 3]
    bare = one(elements, tmp_path / "*.bare", "id", header=False, columns=["id", "word"])
    assert sorted(bare[1].tolist()) == [1, 2, 3]
    words = sorted(word.decode() for word in bare[0]["word"])
    assert words == sorted(["x", "y", "\ufeffz"])  # Only the first character of a file is a mark.


def test_vocabularies_and_buckets_become_numbers(elements, file):
    features = one(
        elements, file, vocabularies={"city": ["Köln", "Bonn"]}, buckets={"height": [1.5, 3]}
    )
    np.testing.assert_array_equal(features["city"], [1, 0, 2, 1])
    np.testing.assert_array_equal(features["height"], [1, 0, 1, 2])


@pytest.mark.parametrize(
    ("word", "found"), tiers.every(2, [("Rom", "the label Rom"), ("", "no label")])
)
def test_a_label_outside_its_vocabulary_is_a_bad_row(elements, file, word, found):
    file.write_text(f"id,city\n1,Bonn\n2,{word}\n3,Köln\n")
    settings = {"label": "city", "vocabularies": {"city": ["Köln", "Bonn"]}}
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        one(elements, file, **settings)
    wanted = f"{file}, line 3: has {found}, expected one of Köln, Bonn"
    assert wanted in str(caught.value)
    features, labels = one(elements, file, **settings, on_bad_record="skip")
    assert (features["id"].tolist(), labels.tolist()) == ([1, 3], [1, 0])


def test_files_without_rows_are_rejected(elements, tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("id\n\n")
    with pytest.raises(ValueError, match=f"{tmp_path}/a has a header but no rows, and neither do"):
        csv(f"{tmp_path}/?")
    (tmp_path / "a").write_text("id\n\n5\n")
    assert one(elements, f"{tmp_path}/?")["id"].tolist() == [5]


def test_files_without_a_header_and_with_other_delimiters(elements, tmp_path):
    (tmp_path / "a").write_text("1;NA\n2;5\n")
    features = one(
        elements, tmp_path / "a", header=False, columns=["a", "b"], delimiter=";", na_value="NA",
        types={"b": tf.int32}, defaults={"b": 9},
    )  # fmt: skip
    assert features["b"].tolist() == [9, 5]


def test_quoted_fields_may_contain_newlines(elements, tmp_path):
    (tmp_path / "a").write_text('n,t\n1,"two\nlines"\n2,"a ""quoted""\n\nword"\n3,x\n')
    features = one(elements, tmp_path / "a", newlines_in_fields=True)
    assert features["t"].tolist() == [b"two\nlines", b'a "quoted"\n\nword', b"x"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="set newlines_in_fields=True"):
        one(elements, tmp_path / "a", types={"n": tf.int64, "t": tf.string})


def test_a_quote_that_is_open_at_the_end_of_the_file_is_an_error(elements, tmp_path):
    (tmp_path / "a").write_text('n,t\n1,x\n2,"y\n3,z\n')
    with pytest.raises(tf.errors.InvalidArgumentError, match="a, record 2: .*unexpected end"):
        one(elements, tmp_path / "a", newlines_in_fields=True)
    features = one(elements, tmp_path / "a", newlines_in_fields=True, on_bad_record="skip")
    assert features["n"].tolist() == [1]


@pytest.mark.parametrize("pipelines", tiers.first({2}, [1, 2]))
def test_rows_of_many_files_are_shuffled_and_shared(elements, tmp_path, pipelines):
    for number in range(3):
        lines = "".join(f"{number * 50 + row},x\n" for row in range(50))
        (tmp_path / f"{number}.csv").write_text("id,t\n" + lines)
    found = []
    for pipeline in range(pipelines):
        context = tf.distribute.InputContext(pipelines, pipeline)
        batches = elements(
            lambda context=context: csv(
                f"{tmp_path}/*", shuffle=True, num_epochs=1, batch_size=8, input_context=context
            )
        )
        found += [int(n) for batch in batches for n in batch["id"]]
    assert found != sorted(found) == [*range(150)]


def test_the_position_can_be_saved_and_restored(tmp_path, restored_elements):
    (tmp_path / "a.csv").write_text("id\n" + "".join(f"{row}\n" for row in range(100)))

    def dataset():
        return csv(tmp_path / "a.csv", shuffle=True, batch_size=7)

    wanted, found = restored_elements(dataset, tmp_path / "position", 16, 20)
    np.testing.assert_array_equal([b["id"] for b in found], [b["id"] for b in wanted])


BAD_ROWS = {
    "5,1.0,Bonn": "has 3 fields, expected 4",
    "5,1.0,Bonn,x,y": "has 5 fields, expected 4",
    "x,1.0,Bonn,x": "has x in column id, which has type int64",
    "5,tall,Bonn,x": "has tall in column height, which has type float32",
    ",1.0,Bonn,x": "has an empty field in column id, which has no default",
    '5,1.0,Bonn,"x': "is not a CSV row: unexpected end of data",
}


@pytest.mark.parametrize("row", tiers.every(3, BAD_ROWS))
def test_a_bad_row_is_named_or_skipped(elements, file, row):
    file.write_text(TABLE + row + "\n6,1,Bonn,x\n")
    settings = {"types": {"id": tf.int64, "height": tf.float32}, "defaults": {"height": 0}}
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        one(elements, file, **settings)
    # The header and a blank line count.
    assert f"{file}, line 7: {BAD_ROWS[row]}" in str(caught.value)
    found = one(elements, file, **settings, on_bad_record="skip")
    assert found["id"].tolist() == [1, 2, 3, 4, 6]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label": "age"}, "There is no column 'age': the columns are id, height, city, note"),
        ({"select": ["age"]}, "There is no column 'age'"),
        ({"types": {"id": tf.bool}}, "Column 'id' cannot have type bool"),
        ({"header": False}, "columns must list the column names"),
        ({"columns": ["a"]}, "begins with the columns id, height, city, note, expected a"),
        ({"columns": ["a", "a"]}, r"columns must have unique names, but \['a'\]"),
        ({"delimiter": ",,"}, "delimiter must be one character"),
        ({"vocabularies": {"id": ["a"]}}, "Column 'id' has type int64, but it needs strings"),
        ({"buckets": {"city": [1]}}, "Column 'city' has type string, but it needs numbers"),
        ({"buckets": {"height": [2, 1]}}, "Buckets of 'height' must increase"),
        ({"buckets": {"age": [2, 1]}}, "There is no column 'age': the selected columns are"),
    ],
)
def test_bad_arguments_are_rejected(file, arguments, message):
    with pytest.raises(ValueError, match=message):
        csv(file, **arguments)


def test_files_must_agree_and_be_text(file, tmp_path):
    (tmp_path / "other.csv").write_text("id,height\n1,2\n")
    with pytest.raises(ValueError, match="table.csv begins with .*, expected id, height"):
        csv(f"{tmp_path}/*.csv")
    file.write_bytes(b"\xff\xfe\x00,\n")
    with pytest.raises(ValueError, match="table.csv cannot be read as CSV"):
        csv(file)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (gzip.compress(b"a,b\n1,2\n"), r"it is compressed \(GZIP\). Decompress it, or write it as"),
        (b"\x28\xb5\x2f\xfd\xff", r"it is compressed \(Zstandard\)"),
        (b"PK\x03\x04\xff", r"it is compressed \(ZIP\)"),
        ("a,b\n1,2\n".encode("utf-16"), "it is UTF-16. Convert it to UTF-8"),
    ],
    ids=["gzip", "zstd", "zip", "utf-16"],
)
def test_files_that_must_be_converted_first(tmp_path, content, text):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"rows.csv cannot be read as CSV: {text}"):
        csv(path)


def test_types_are_those_of_the_first_file_with_rows(tmp_path):
    for name, rows in {"part-0": "", "part-1": "7,0.5\n"}.items():
        (tmp_path / name).write_text(f"a,b\n{rows}")
    batch = next(iter(csv(tmp_path / "part-*", num_epochs=1)))
    assert (batch["a"].numpy().tolist(), batch["b"].numpy().tolist()) == ([7], [0.5])


def test_digits_of_other_scripts_are_text(tmp_path):
    (tmp_path / "a.csv").write_text("a\n١٢\n", encoding="utf-8")
    batch = next(iter(csv(tmp_path / "a.csv", num_epochs=1)))
    assert batch["a"].numpy().tolist() == ["١٢".encode()]


@pytest.mark.parametrize(
    ("default", "dtype"), [("x", "int64"), (1.5, "int64"), (2**63, "int64"), (None, "int64")]
)
def test_a_default_that_the_column_cannot_hold(tmp_path, default, dtype):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n,y\n")
    with pytest.raises(ValueError, match=f"defaults: column 'a' has type {dtype}, but .* types"):
        csv(tmp_path / "a.csv", defaults={"a": default})
    with pytest.raises(ValueError, match="defaults: column 'b' has type string, but its .* is 0"):
        csv(tmp_path / "a.csv", defaults={"b": 0})


def test_a_quote_within_a_field_is_named(tmp_path):
    (tmp_path / "a.csv").write_text('a,b\n1,x"y\n')
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        list(csv(tmp_path / "a.csv", num_epochs=1))
    assert "line 2: has a quote within a field; double it" in error.value.message
