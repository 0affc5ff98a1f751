"""Azure's blob storage: a real server of its protocol, Azurite."""

import json
import os
import sys
from pathlib import Path

import pytest
import tensorflow as tf
from processes import run_process

from estimator_train import remote

JOB = Path(__file__).with_name("estimator_job.py")
gfile = tf.io.gfile
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def azure(tmp_path_factory):
    import azure_store  # It needs adlfs, which the first tier does not install.

    with (
        azure_store.serve_blobs(tmp_path_factory.mktemp("azurite")) as running,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name in [name for name in os.environ if name.startswith("AZURE_")]:
            patch.delenv(name)
        for name, value in running.variables.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture
def container(azure):
    return azure.make_container()


@pytest.fixture(
    params=["az://{}", "abfs://{}", "wasbs://{}@devstoreaccount1.blob.core.windows.net"]
)
def root(request, container):
    remote.register(request.param.partition("://")[0])
    return request.param.format(container) + "/root"


def write(path, content):
    with gfile.GFile(path, "wb") as file:
        file.write(content)


def read(path):
    with gfile.GFile(path, "rb") as file:
        return file.read()


def test_files_and_directories(root, azure, container):
    gfile.makedirs(f"{root}/a/b")
    write(f"{root}/a/b/one.txt", b"1")
    write(f"{root}/a/two.txt", b"22")
    assert list(gfile.walk(root)) == [
        (root, ["a"], []),
        (f"{root}/a", ["b"], ["two.txt"]),
        (f"{root}/a/b", [], ["one.txt"]),
    ]
    assert gfile.glob(f"{root}/*/*.txt") == [f"{root}/a/two.txt"]
    assert gfile.stat(f"{root}/a/two.txt").length == 2
    assert gfile.stat(f"{root}/a/two.txt").mtime_nsec > 1.7e18
    gfile.makedirs(f"{root}/a/empty/inner")
    gfile.rename(f"{root}/a", f"{root}/moved")
    assert gfile.isdir(f"{root}/moved/empty/inner")
    assert not gfile.exists(f"{root}/a")
    assert azure.list_names(container, "root/moved/b/") == ["root/moved/b/one.txt"]
    gfile.rename(f"{root}/moved/two.txt", f"{root}/moved/b/one.txt", overwrite=True)
    assert read(f"{root}/moved/b/one.txt") == b"22"
    with gfile.GFile(f"{root}/moved/b/one.txt", "ab") as file:
        file.write(b"3")
    assert read(f"{root}/moved/b/one.txt") == b"223"
    gfile.remove(f"{root}/moved/b/one.txt")
    assert gfile.listdir(f"{root}/moved/b") == []
    gfile.rmtree(f"{root}/moved")
    assert not gfile.exists(f"{root}/moved")
    with pytest.raises(tf.errors.NotFoundError):
        read(f"{root}/none")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.listdir(f"{root}/none")


def test_directories_that_other_programs_marked(azure, container):
    remote.register("az")
    azure.write(container, "a/", b"")  # The driver would list it in place of the file.
    azure.write(container, "a/file", b"1")
    azure.client.get_blob_client(container, "a/sub").upload_blob(
        b"", metadata={"Hdi_isfolder": "true"}
    )
    azure.write(container, "ab/file", b"1")
    assert gfile.listdir(f"az://{container}/a") == ["file", "sub"]
    assert gfile.isdir(f"az://{container}/a/sub")
    gfile.rmtree(f"az://{container}/a")
    assert gfile.listdir(f"az://{container}") == ["ab"]


def test_a_large_file_is_sent_in_parts_and_read_in_ranges(azure, container):
    remote.register("az")
    large = os.urandom(1 << 20) * 40
    with gfile.GFile(f"az://{container}/large", "wb") as file:
        for start in range(0, len(large), 3 << 20):
            file.write(large[start : start + (3 << 20)])
            assert azure.list_names(container) == []
    assert azure.read(container, "large") == large
    assert read(f"az://{container}/large") == large


def test_a_blob_that_is_replaced_while_it_is_read_is_an_error(azure, container):
    remote.register("az")
    azure.write(container, "data", b"a" * (40 << 20))  # More than is read ahead.
    with gfile.GFile(f"az://{container}/data", "rb") as file:
        assert file.read(1) == b"a"
        azure.write(container, "data", b"b" * (40 << 20))
        with pytest.raises(tf.errors.FailedPreconditionError, match="was replaced while it was"):
            file.read()


# Prints the error of one line that a model_dir causes.
CHECK = """
import sys
from estimator_train import remote
try:
    remote.check_path(sys.argv[1], "model_dir")
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("path", "variables", "message"),
    [
        ("az://no-such-container/run", {}, "bucket 'no-such-container' does not exist. Create"),
        ("az://any/run", {"AZURE_STORAGE_CONNECTION_STRING": None}, "Set AZURE_STORAGE_CONNECTION"),
        ("az://any/run", {"AccountKey=E": "AccountKey=F"}, "the store denies access"),
    ],
)
def test_a_path_that_cannot_work_is_an_error_of_one_line(azure, path, variables, message):
    values = dict(azure.variables)
    for old, new in variables.items():
        if new is None:
            del values[old]
        else:
            values = {name: value.replace(old, new) for name, value in values.items()}
    environment = {"AZURE_STORAGE_CONNECTION_STRING": "", **values}
    printed = run_process([sys.executable, "-c", CHECK, path], **environment).stdout
    assert message in printed
    assert len(printed.splitlines()) == 1


def run_job(directory, **variables):
    command = [sys.executable, JOB, directory]
    return json.loads(run_process(command, timeout=300, **variables).stdout.splitlines()[-1])


def test_a_job_on_azure_is_the_job_on_a_local_disk(azure, container, tmp_path):
    directory = f"az://{container}/job"
    local = run_job(str(tmp_path / "job"))
    found = run_job(directory)
    strip = len(directory), len(str(tmp_path / "job"))
    assert [path[strip[0] :] for path in found.pop("all")] == [
        path[strip[1] :] for path in local.pop("all")
    ]
    assert found.pop("export").startswith(f"{directory}/exports/")
    local.pop("export")
    assert found == local
