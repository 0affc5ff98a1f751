"""Files on a real HTTP server, which are read only: Python's own, which knows no ranges."""

import functools
import http.server
import os
import threading

import pytest
import tensorflow as tf

import estimator_train as est
import input_fns
from estimator_train import remote

pytestmark = pytest.mark.long  # The driver needs aiohttp, which the first tier does not install.
RECORDS, RECORD_BYTES = 40, 500_000


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class _RangeHandler(_Handler):
    """Handler that answers ranges."""

    def do_GET(self):
        header = self.headers.get("Range")
        if not header:
            super().do_GET()
            return
        with open(self.translate_path(self.path), "rb") as file:
            content = file.read()
        first, last = map(int, header.removeprefix("bytes=").split("-"))
        part = content[first : last + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)


@pytest.fixture(params=[_Handler, _RangeHandler], ids=["whole", "ranges"])
def root(request, tmp_path):
    remote.register("http")
    handler = functools.partial(request.param, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_records_and_words_are_read(root, tmp_path):
    records = [os.urandom(RECORD_BYTES) for _ in range(RECORDS)]
    with tf.io.TFRecordWriter(str(tmp_path / "train.tfrecord")) as writer:
        for record in records:
            writer.write(record)
    (tmp_path / "words.txt").write_text("a\nb\nc\n")
    path = f"{root}/train.tfrecord"
    assert tf.io.gfile.exists(path)
    assert not tf.io.gfile.exists(f"{root}/none")
    assert tf.io.gfile.stat(path).length > RECORDS * RECORD_BYTES
    assert tf.io.gfile.glob(f"{root}/*.tfrecord") == [path]
    assert list(tf.data.TFRecordDataset(path).as_numpy_iterator()) == records
    with tf.io.gfile.GFile(path, "rb") as file:
        file.seek(12 + RECORD_BYTES + 4 + 12)  # Length and checksum, record, checksum.
        assert file.read(RECORD_BYTES) == records[1]
    column = tf.feature_column.categorical_column_with_vocabulary_file(
        "word", f"{root}/words.txt", vocabulary_size=3
    )
    estimator = est.LinearRegressor([column])
    lines = input_fns.csv(
        f"{root}/words.txt",
        header=False,
        columns=["word"],
        types={"word": tf.string},
        batch_size=3,
        num_epochs=1,
    )
    assert [*next(iter(lines))["word"].numpy()] == [b"a", b"b", b"c"]

    def input_fn():
        return tf.data.Dataset.from_tensors(({"word": [["a"], ["c"]]}, [[1.0], [2.0]])).repeat()

    estimator.train(input_fn, steps=2)
    assert estimator.get_variable_value("linear/linear_model/word/weights").shape == (3, 1)


def test_writes_are_refused_at_once(root):
    for write in (
        lambda: tf.io.gfile.GFile(f"{root}/file", "w").write("x"),
        lambda: tf.io.gfile.makedirs(f"{root}/directory"),
        lambda: tf.io.gfile.remove(f"{root}/file"),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match="http:// is read-only"):
            write()
    estimator = est.LinearRegressor([tf.feature_column.numeric_column("x")], f"{root}/run")
    data = ({"x": [[1.0]]}, [[2.0]])
    with pytest.raises(ValueError, match="http:// is read-only. Use another scheme or a disk"):
        estimator.train(lambda: tf.data.Dataset.from_tensors(data), steps=1)
