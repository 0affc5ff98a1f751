"""TensorFlow's file functions on a real S3 server.

These tests cover `remote/changes.py`, `remote/kinds.py` and `remote/store.py`.
"""

import os
import time

import forked
import fsspec
import pytest
import tensorflow as tf
from processes import run_process

from estimator_train import remote
from estimator_train.remote import writing

gfile = tf.io.gfile


@pytest.fixture(params=["memory", pytest.param("s3", marks=pytest.mark.long)])
def root(request, tmp_path):
    remote.register(request.param)
    place = request.getfixturevalue("bucket") if request.param == "s3" else tmp_path.as_posix()[1:]
    return f"{request.param}://{place}/root"


@pytest.fixture
def bucket_root(bucket):
    remote.register("s3")
    return f"s3://{bucket}/root"


def write(path, content):
    with gfile.GFile(path, "wb") as file:
        file.write(content)


def read(path):
    with gfile.GFile(path, "rb") as file:
        return file.read()


def test_files_and_directories(root):
    gfile.makedirs(f"{root}/a/b")
    assert gfile.isdir(f"{root}/a/b")
    assert gfile.isdir(f"{root}/a")
    assert not gfile.exists(f"{root}/a/c")
    write(f"{root}/a/b/one.txt", b"1")
    write(f"{root}/a/two.txt", b"22")
    assert not gfile.isdir(f"{root}/a/two.txt")
    assert gfile.stat(f"{root}/a/two.txt").length == 2
    assert gfile.stat(f"{root}/a/two.txt").mtime_nsec > 1.7e18
    assert gfile.listdir(f"{root}/a") == ["b", "two.txt"]
    assert list(gfile.walk(root)) == [
        (root, ["a"], []),
        (f"{root}/a", ["b"], ["two.txt"]),
        (f"{root}/a/b", [], ["one.txt"]),
    ]
    gfile.rmtree(f"{root}/a/b")
    assert not gfile.exists(f"{root}/a/b")
    assert gfile.listdir(f"{root}/a") == ["two.txt"]


@pytest.mark.parametrize(("name", "other"), [("run[12]", "run1"), ("lr=*", "lr=1"), ("a?b", "a-b")])
def test_the_name_of_a_tree_to_delete_is_no_pattern(root, name, other):
    for directory in (name, other):
        gfile.makedirs(f"{root}/{directory}/sub/empty")
        write(f"{root}/{directory}/sub/file", b"1")
    gfile.rmtree(f"{root}/{name}")
    assert [found.rstrip("/") for found in gfile.listdir(root)] == [other]
    assert read(f"{root}/{other}/sub/file") == b"1"
    gfile.rmtree(f"{root}/{other}/sub/file")
    assert gfile.isdir(f"{root}/{other}/sub/empty")
    assert not gfile.exists(f"{root}/{other}/sub/file")


@pytest.mark.parametrize("name", ["run[12]", "lr=*", "a?b"])
def test_renames_take_no_name_for_a_pattern(root, name):
    for path in ("one", "sub/two", "other"):
        gfile.makedirs(f"{root}/{name}/sub")
        write(f"{root}/{name}/{path}", path.encode())
    gfile.rename(f"{root}/{name}/other", f"{root}/{name}/one", overwrite=True)
    assert read(f"{root}/{name}/one") == b"other"
    assert gfile.listdir(f"{root}/{name}") == ["one", "sub"]
    gfile.rename(f"{root}/{name}", f"{root}/new{name}")
    assert gfile.listdir(root) == [f"new{name}"]
    assert read(f"{root}/new{name}/sub/two") == b"sub/two"


@pytest.mark.long
def test_a_bucket_outlives_its_files(store, bucket):
    remote.register("s3")
    write(f"s3://{bucket}/dir/file", b"1")
    gfile.rmtree(f"s3://{bucket}")
    assert store.list_keys(bucket) == []
    write(f"s3://{bucket}/file", b"1")


def test_the_marker_of_a_directory_outlives_its_files(root):
    gfile.makedirs(f"{root}/kept")
    write(f"{root}/kept/file", b"1")
    gfile.remove(f"{root}/kept/file")
    assert gfile.listdir(f"{root}/kept") == []


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", ["data-0", "data-1", "data-12", "other", "sub"]),
        ("data-?", ["data-0", "data-1"]),
        ("data-[1-9]*", ["data-1", "data-12"]),
        ("data-[!1-9]*", ["data-0"]),
        ("*/in", ["sub/in"]),
        ("/sub//i*", ["sub/in"]),
        ("none*", []),
        ("data-0", ["data-0"]),
        ("none", []),
    ],
)
def test_patterns(root, pattern, expected):
    for name in ("data-0", "data-1", "data-12", "other", "sub/in"):
        write(f"{root}/{name}", b"x")
    assert gfile.glob(f"{root}/{pattern}") == [f"{root}/{name}" for name in expected]


@pytest.mark.long
def test_renames_and_copies(bucket_root, store, bucket):
    write(f"{bucket_root}/old", b"old")
    write(f"{bucket_root}/new", b"new")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.rename(f"{bucket_root}/old", f"{bucket_root}/new")
    gfile.rename(f"{bucket_root}/old", f"{bucket_root}/new", overwrite=True)
    assert read(f"{bucket_root}/new") == b"old"
    assert not gfile.exists(f"{bucket_root}/old")
    gfile.copy(f"{bucket_root}/new", f"{bucket_root}/copy")
    gfile.makedirs(f"{bucket_root}/dir/empty/inner")
    write(f"{bucket_root}/dir/sub/file", b"file")
    gfile.rename(f"{bucket_root}/dir", f"{bucket_root}/moved")
    assert gfile.isdir(f"{bucket_root}/moved/empty/inner")
    assert not gfile.exists(f"{bucket_root}/dir")
    assert store.list_keys(bucket) == ["root/copy", "root/moved/sub/file", "root/new"]


def test_errors_have_the_types_of_local_files(root, tmp_path):
    for base in (root, str(tmp_path)):
        write(f"{base}/file", b"1")
        gfile.makedirs(f"{base}/full")
        write(f"{base}/full/inner", b"1")
        with pytest.raises(tf.errors.NotFoundError):
            read(f"{base}/none")
        with pytest.raises(tf.errors.NotFoundError):
            gfile.remove(f"{base}/none")
        with pytest.raises(tf.errors.NotFoundError):
            gfile.listdir(f"{base}/none")
        with pytest.raises((tf.errors.FailedPreconditionError, tf.errors.InvalidArgumentError)):
            gfile.remove(f"{base}/full")


def test_records_text_and_tables(root):
    for kind in ("", "GZIP"):
        with tf.io.TFRecordWriter(f"{root}/records{kind}", kind) as writer:
            for number in range(300):
                writer.write(b"%d" % number * 100)
        found = tf.data.TFRecordDataset(f"{root}/records{kind}", kind).as_numpy_iterator()
        assert list(found) == [b"%d" % number * 100 for number in range(300)]
    write(f"{root}/words.txt", b"a\nb\nc\n")
    assert list(tf.data.TextLineDataset(f"{root}/words.txt").as_numpy_iterator()) == [
        b"a", b"b", b"c"
    ]  # fmt: skip
    lines = tf.lookup.TextFileIndex
    initializer = tf.lookup.TextFileInitializer(
        f"{root}/words.txt", tf.string, lines.WHOLE_LINE, tf.int64, lines.LINE_NUMBER
    )
    table = tf.lookup.StaticHashTable(initializer, -1)
    assert table.lookup(tf.constant(["c", "d"])).numpy().tolist() == [2, -1]


def test_appended_bytes_follow_the_old_ones(root):
    for content in (b"one", b"two"):
        with gfile.GFile(f"{root}/log", "ab") as file:
            file.write(content)
    assert read(f"{root}/log") == b"onetwo"


def test_bytes_that_several_writers_append_are_all_kept(root):
    # A training appends to `history.jsonl` by two hooks, and an evaluation meanwhile.
    with gfile.GFile(f"{root}/log", "a") as first, gfile.GFile(f"{root}/log", "a") as second:
        for number in range(3):
            first.write(f"first {number}\n")
            first.flush()
            second.write(f"second {number}\n")
            second.flush()
            with gfile.GFile(f"{root}/log", "a") as third:
                third.write(f"third {number}\n")
    assert gfile.GFile(f"{root}/log").read().splitlines() == [
        f"{name} {number}" for number in range(3) for name in ("first", "second", "third")
    ]


@pytest.mark.long
def test_appended_bytes_follow_those_of_other_processes(bucket_root, store, bucket):
    # As an evaluator and a chief append to `history.jsonl`; below and above 5 MiB.
    for size in (10, 6 << 20):
        key = f"root/log{size}"
        write(f"{bucket_root}/log{size}", b"0" * size)
        with gfile.GFile(f"{bucket_root}/log{size}", "ab") as file:
            store.client.put_object(Bucket=bucket, Key=key, Body=b"0" * size + b"other")
            file.write(b"own")
        assert store.read(bucket, key)[size:] == b"otherown"


def test_the_store_gets_appended_bytes_that_are_flushed(monkeypatch, tmp_path):
    monkeypatch.setattr(writing, "PUBLISH_SECS", 0.1)
    remote.register("memory")
    memory = fsspec.filesystem("memory")
    memory.pipe_file(f"{tmp_path}/log", b"before\n")
    with gfile.GFile(f"memory:/{tmp_path}/log", "a") as file:
        file.write("line\n")
        file.flush()
        deadline = time.monotonic() + 60
        # The file functions of TensorFlow would publish what they read.
        while memory.cat(f"{tmp_path}/log") == b"before\n" and time.monotonic() < deadline:
            time.sleep(0.05)
        assert memory.cat(f"{tmp_path}/log") == b"before\nline\n"


@pytest.mark.long
def test_a_large_file_is_sent_in_parts_and_appended_to(bucket_root, store, bucket):
    large = os.urandom(1 << 20) * 40
    with gfile.GFile(f"{bucket_root}/large", "wb") as file:
        for start in range(0, len(large), 3 << 20):
            file.write(large[start : start + (3 << 20)])
            assert store.list_keys(bucket) == []
    with gfile.GFile(f"{bucket_root}/large", "ab") as file:
        file.write(b"tail")
    assert read(f"{bucket_root}/large") == large + b"tail"
    etag = store.client.head_object(Bucket=bucket, Key="root/large")["ETag"]
    assert etag.strip('"').endswith("-2")  # The old object, and the tail.
    with gfile.GFile(f"{bucket_root}/large", "rb") as file:
        file.seek(len(large) - 5)
        assert file.read(9) == large[-5:] + b"tail"


@pytest.mark.long
def test_a_thousand_files_are_listed_in_one_call(bucket_root, store, bucket):
    for number in range(1001):
        store.client.put_object(Bucket=bucket, Key=f"root/many/{number:04}", Body=b"")
    assert len(gfile.listdir(f"{bucket_root}/many")) == 1001


def test_tables_of_tensors(root):
    variable = tf.Variable(tf.range(1000, dtype=tf.float32))
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=variable), f"{root}/ckpt", max_to_keep=2
    )
    for number in range(3):
        variable.assign_add(tf.ones_like(variable))
        manager.save(number)
    assert [path.rpartition("-")[2] for path in manager.checkpoints] == ["1", "2"]
    other = tf.Variable(tf.zeros([1000]))
    tf.train.Checkpoint(v=other).restore(tf.train.latest_checkpoint(f"{root}/ckpt"))
    assert other.numpy().tolist() == variable.numpy().tolist()
    assert not [path for path in gfile.glob(f"{root}/ckpt/*") if "tmp" in path.rpartition("/")[2]]


@pytest.mark.parametrize("name", ["checkpoint.tmp" + "0f" * 16, "ckpt-4.index.tempstate16944"])
def test_a_kill_before_a_rename_leaves_no_object(root, name):
    gfile.makedirs(root)
    write(f"{root}/{name}", b"1")
    assert gfile.listdir(root) == []  # It is in this process only.
    gfile.rename(f"{root}/{name}", f"{root}/complete")
    assert gfile.listdir(root) == ["complete"]
    assert read(f"{root}/complete") == b"1"


# Saves a checkpoint of 40 MB twice, and prints one of its values.
SAVING = """
import sys
import tensorflow as tf
import estimator_train

tf.compat.v1.disable_eager_execution()
value = tf.compat.v1.get_variable("v", [10 << 20], initializer=tf.compat.v1.ones_initializer())
saver = tf.compat.v1.train.Saver(sharded=True)
with tf.compat.v1.Session() as session:
    session.run(value.initializer)
    saver.save(session, sys.argv[1])
    session.run(value.assign_add(tf.ones_like(value)))
    saver.save(session, sys.argv[1])
print(tf.train.load_variable(sys.argv[1], "v")[-1])
"""


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_the_store_copies_no_large_checkpoint(store, bucket, scheme):
    import faulty_proxy

    with faulty_proxy.serve_with_faults(store.endpoint) as proxy:
        command = forked.python("-c", SAVING, f"{scheme}://{bucket}/run/model")
        done = run_process(command, S3_ENDPOINT=proxy.endpoint)
    assert done.stdout.splitlines()[-1] == "2.0"
    assert store.list_keys(bucket) == [
        "run/checkpoint", "run/model.data-00000-of-00001", "run/model.index", "run/model.meta",
    ]  # fmt: skip
    changes = [path for method, path, _ in proxy.requests if method in ("PUT", "DELETE")]
    assert all("partNumber=" in path for path in changes if ".data-" in path), changes


# Prints the content of a file that may be written while it is looked for.
LOOKING = """
import sys
import tensorflow as tf
from estimator_train import remote

remote.register("s3")
try:
    print(tf.io.gfile.GFile(sys.argv[1]).read())
except tf.errors.NotFoundError:
    print("none")
"""


@pytest.mark.long
def test_a_file_that_appears_while_it_is_looked_for_is_no_directory(store, bucket):
    import faulty_proxy

    def write_file(method, path):
        if "list-type" in path:  # The store has said that there is no such file.
            store.client.put_object(Bucket=bucket, Key="file", Body=b"content")

    with faulty_proxy.serve_with_faults(store.endpoint) as proxy:
        proxy.rule = write_file
        command = forked.python("-c", LOOKING, f"s3://{bucket}/file")
        assert run_process(command, S3_ENDPOINT=proxy.endpoint).stdout == "content\n"
    assert store.list_keys(bucket) == ["file"]


@pytest.mark.long
def test_the_data_of_a_checkpoint_appears_when_it_is_renamed(bucket_root, store, bucket):
    content = os.urandom(1 << 20) * 36
    final = f"{bucket_root}/ckpt.data-00000-of-00002"
    temporary = f"{final}.tempstate12"
    write(final, b"old")
    write(temporary, content)
    assert read(final) == b"old"
    assert gfile.stat(temporary).length == len(content)
    gfile.rename(temporary, final, overwrite=True)
    assert read(final) == content
    write(temporary, content)
    gfile.rename(temporary, f"{bucket_root}/other")
    assert read(f"{bucket_root}/other") == content
    write(temporary, content)
    gfile.remove(temporary)
    assert not gfile.exists(temporary)
    assert not store.client.list_multipart_uploads(Bucket=bucket).get("Uploads")


def test_a_process_reads_the_events_that_it_flushed(root):
    with tf.Graph().as_default():
        writer = tf.compat.v1.summary.FileWriter(f"{root}/events")
        for step in range(3):
            value = tf.compat.v1.Summary.Value(tag="loss", simple_value=step)
            writer.add_summary(tf.compat.v1.Summary(value=[value]), step)
            writer.flush()
            (path,) = gfile.glob(f"{root}/events/*")
            events = list(tf.compat.v1.train.summary_iterator(path))
            assert [event.step for event in events[1:]] == list(range(step + 1))
        writer.close()


def test_the_store_gets_events_that_are_not_flushed(monkeypatch, tmp_path):
    monkeypatch.setattr(writing, "PUBLISH_SECS", 0.1)
    remote.register("memory")
    directory = f"{tmp_path}/events"
    memory = fsspec.filesystem("memory")
    with tf.Graph().as_default():
        writer = tf.compat.v1.summary.FileWriter(f"memory:/{directory}", flush_secs=3600)
        for tag in ("flushed", "waiting"):
            value = tf.compat.v1.Summary.Value(tag=tag, simple_value=1.0)
            writer.add_summary(tf.compat.v1.Summary(value=[value]))
            if tag == "flushed":
                writer.flush()
        deadline = time.monotonic() + 60
        # The file functions of TensorFlow would publish what they read.
        (path,) = memory.glob(f"{directory}/*")
        while b"waiting" not in memory.cat(path) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert b"waiting" in memory.cat(path)
        writer.close()
