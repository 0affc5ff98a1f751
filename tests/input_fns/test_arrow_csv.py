"""pyarrow gives the values and errors of `tf.io.decode_csv`, on generated lines and files."""

import csv as python_csv

import numpy as np
import pytest
import tensorflow as tf
import tiers
from hypothesis import HealthCheck, given, settings, strategies as st

from input_fns import csv
from input_fns.records.arrow_csv import ArrowCsvParser, can_parse, decode_lines
from input_fns.records.delimited import Columns, CsvFormat

NAMES = ["whole", "short", "real", "double", "text"]
DTYPES = [np.int64, np.int32, np.float32, np.float64, object]
ODD = (
    *("", "NA", "0", "-1", "+1", " 1", "1 ", "00012", "0x1F", "1_000", "1,5", "2147483648"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e5", "1E-3", "1."),
    *(".5", "nan", "NaN", "-nan", "inf", "-Infinity", "INF", "1e400", "1e-400", "1e39", "0x1p3"),
    *("-0", "1f", "true", "null", '"1"', '"a,b"', 'a"b', '""', "\t", "é", "a\rb", "#", "16777217"),
)
NUMBERS = st.one_of(
    st.integers(-(2**31), 2**31 - 1).map(str), st.floats(width=32).map(repr), st.sampled_from(ODD)
)
CLEAN = {
    "whole": st.integers(-(2**63), 2**63 - 1).map(str),
    "short": st.integers(-(2**31), 2**31 - 1).map(str),
    "real": st.floats().map(repr),
    "double": st.floats().map(repr),
    "text": st.text(st.characters(exclude_characters='",\r\n')),
}
ROWS = st.lists(st.tuples(*CLEAN.values()).map(list), min_size=1, max_size=5)


def make_columns(has_defaults):
    defaults = [np.array([7] if has_defaults else [], dtype) for dtype in DTYPES[:4]]
    text = np.array(["?"], object)
    return Columns(CsvFormat(",", True, "NA", False), NAMES, NAMES, [*defaults, text], {})


PARSERS = {flag: ArrowCsvParser(make_columns(flag)) for flag in (False, True)}


def decode(columns, lines):
    try:
        return [value.numpy() for value in decode_lines(columns, tf.constant(lines))]
    except tf.errors.InvalidArgumentError as error:
        return error.message.splitlines()[0]


def assert_same(lines, has_defaults):
    columns = make_columns(has_defaults)
    expected = decode(columns, lines)
    actual = PARSERS[has_defaults].parse_text("\n".join(lines).encode())
    if actual is None:
        return  # decode_csv parses them.
    for left, right in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(left, right)


@given(rows=ROWS, odd=st.tuples(st.integers(0, 4), st.integers(0, 4), NUMBERS), flag=st.booleans())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_one_odd_field(rows, odd, flag):
    row, column, field = odd
    rows[row % len(rows)][column] = field
    assert_same([",".join(fields) for fields in rows], flag)


@pytest.mark.parametrize("field", tiers.every(4, ODD))
@pytest.mark.parametrize("column", range(5))
def test_each_odd_field_in_each_column(field, column):
    row = ["1", "2", "3.5", "4.5", "text"]
    row[column] = field
    for flag in (False, True):
        assert_same([",".join(row), "1,2,3,4,five"], flag)


def test_clean_lines_are_parsed_by_pyarrow():
    parse = PARSERS[True].parse_text
    found = parse(b'1,2,3.5,4.5,a\n\n\n,NA,,nan,\n"5","6","7","8","b, c"\n9,,,,""\n')
    assert [values.tolist() for values in (found[0], found[1], found[2], found[4])] == [
        [1, 7, 5, 9],
        [2, 7, 6, 7],
        [3.5, 7, 7, 7],
        [b"a", b"?", b"b, c", b"?"],
    ]
    for line in (
        '1,2,3,4,a"b',
        '1,2,3,4,"a""b"',
        '1,2,3,4,"a"b"',
        '1,2,3,4,"a',
        "1,2,3,4",
        "0x1,,,,",
    ):
        assert parse(f"1,2,3.5,4.5,a\n{line}\n".encode()) is None, line


ROWS_OF_FILE = 30_000


@pytest.fixture(scope="module", params=tiers.first({"plain"}, ["plain", "quoted", "escaped"]))
def large_file(request, tmp_path_factory):
    """A file of several blocks, with a byte order mark, empty lines and Windows' line ends."""
    text = {"plain": "t{}", "quoted": '"t, {}"', "escaped": '"t ""{}"""'}[request.param]
    rows = [f"{row},{row / 3!r},{text.format(row % 9)}" for row in range(ROWS_OF_FILE)]
    rows[7_000] += "\r\n\r\n"
    rows[20_000] += "\n\n\n"
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    path.write_text("\ufeffid,x,t\n" + "\n".join(rows), encoding="utf-8", newline="")
    return path


def list_columns(batches):
    names = batches[0].keys()
    return {name: np.concatenate([batch[name] for batch in batches]).tolist() for name in names}


@pytest.mark.parametrize("shuffle", tiers.first({True}, [False, True]))
@pytest.mark.parametrize("workers", tiers.first({2}, [2, *tiers.of_commit(2, [1, 5])]))
def test_workers_read_each_row_of_a_large_file_once(elements, large_file, shuffle, workers):
    found = {"id": [], "x": [], "t": []}
    for worker in range(workers):
        context = tf.distribute.InputContext(workers, worker)
        batches = elements(
            lambda context=context: csv(
                large_file, batch_size=500, num_epochs=1, shuffle=shuffle, input_context=context
            )
        )
        own = list_columns(batches)
        assert len(own["id"]) == pytest.approx(ROWS_OF_FILE / workers, abs=2)  # Empty lines count.
        assert {len(batch["id"]) for batch in batches[:-1]} == {500}
        for name, values in own.items():
            found[name] += values
    with large_file.open(encoding="utf-8-sig", newline="") as lines:
        expected = [*python_csv.DictReader(lines)]
    order = found["id"]
    assert sorted(order) == [*range(ROWS_OF_FILE)]
    assert (order == sorted(order)) == (workers == 1 and not shuffle)
    np.testing.assert_array_equal(
        found["x"], np.float32([float(expected[row]["x"]) for row in order])
    )
    assert found["t"] == [expected[row]["t"].encode() for row in order]


@pytest.mark.parametrize("shuffle", tiers.first({True}, [False, True]))
@pytest.mark.parametrize("before", tiers.first({23}, [23, *tiers.of_commit(2, [1, 60])]))
def test_the_position_in_a_large_file_is_restored(
    large_file, tmp_path, restored_elements, shuffle, before
):
    def dataset():
        return csv(large_file, batch_size=700, shuffle=shuffle)

    expected, actual = restored_elements(dataset, tmp_path / "position", before, 50)
    assert list_columns(actual) == list_columns(expected)


@pytest.mark.long
def test_bad_lines_of_a_large_file_are_named_or_skipped(elements, large_file, tmp_path):
    lines = large_file.read_text(encoding="utf-8-sig").split("\n")
    bad_lines = {9_000: "x,1,t", 9_001: '1,"2"3,t', 25_000: "1,2"}
    for number, line in bad_lines.items():
        lines[number - 1] = line
    path, log = tmp_path / "bad.csv", tmp_path / "log"
    path.write_text("\n".join(lines))
    types = {"id": tf.int64, "x": tf.float32, "t": tf.string}
    with pytest.raises(tf.errors.InvalidArgumentError, match="line 9000: has x in column id"):
        elements(lambda: csv(path, types=types, num_epochs=1))
    found = []
    for worker in range(2):
        batches = elements(
            lambda worker=worker: csv(
                path,
                types=types,
                num_epochs=1,
                on_bad_record="skip",
                bad_records_file=log,
                input_context=tf.distribute.InputContext(2, worker),
            )
        )
        found += list_columns(batches)["id"]
    assert len(found) == len({*found}) == ROWS_OF_FILE - 3
    assert sorted(line.split(": ")[0] for line in log.read_text().splitlines()) == sorted(
        f"{path}, line {number}" for number in bad_lines
    )


def test_cached_rows_of_a_large_file(large_file, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(large_file.read_bytes())
    iterator = iter(csv(path, batch_size=ROWS_OF_FILE, cache="memory", prefetch_buffer_size=0))
    first = next(iterator)
    path.write_text("")
    second = next(iterator)
    assert first["t"].numpy().tolist() == second["t"].numpy().tolist()


def test_other_formats_are_decoded_by_tensorflow():
    def has_parser(*csv_format):
        return can_parse(Columns(CsvFormat(*csv_format), NAMES, NAMES, [], {}))

    assert has_parser(";", False, "", False)
    assert not has_parser("é", True, "", False)
    assert not has_parser(",", True, "", True)
