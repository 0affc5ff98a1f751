"""A real server of Azure's blob protocol in a process of its own, on loopback: Azurite, of npm."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import azure.core.exceptions
import pytest
from azure.storage.blob import BlobServiceClient
from object_store import reserve_port

_PACKAGE = "azurite@3.35.0"
_FOLDER = Path(__file__).parents[2] / ".azurite"
_INSTALL_SECS = 200  # Two test processes, one after the other, have less than the limit of a test.
_START_SECS = 200
# Those that every Azurite has.
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class AzureStore:
    """A running server.

    Attributes:
      endpoint: Its address, host and port.
      variables: Environment variables with which a process finds it.
    """

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.variables = {"AZURE_STORAGE_CONNECTION_STRING": make_connection_string(endpoint)}
        self.client: Any = BlobServiceClient.from_connection_string(
            make_connection_string(endpoint), retry_total=0
        )

    def make_container(self) -> str:
        """Creates a container and returns its name."""
        name = f"container-{uuid.uuid4().hex[:12]}"
        self.client.create_container(name)
        return name

    def list_names(self, container: str, prefix: str = "") -> list[str]:
        """Returns the names of the blobs, without those that mark directories."""
        blobs = self.client.get_container_client(container).list_blobs(name_starts_with=prefix)
        return [blob.name for blob in blobs if not blob.name.endswith("/")]

    def write(self, container: str, name: str, content: bytes) -> None:
        """Writes a blob."""
        self.client.get_blob_client(container, name).upload_blob(content, overwrite=True)

    def read(self, container: str, name: str) -> bytes:
        """Returns the content of a blob."""
        content: bytes = self.client.get_blob_client(container, name).download_blob().readall()
        return content


def make_connection_string(endpoint: str) -> str:
    """Returns the value of AZURE_STORAGE_CONNECTION_STRING for a server, or a proxy before it."""
    return (
        f"DefaultEndpointsProtocol=http;AccountName={_ACCOUNT};AccountKey={_KEY};"
        f"BlobEndpoint=http://{endpoint}/{_ACCOUNT};"
    )


def _install() -> Path:
    """Returns Azurite's program, which the first of several test processes installs."""
    if not (shutil.which("npm") and shutil.which("node")):
        pytest.skip("needs node and npm, which install Azurite: apt-get install nodejs npm")
    _FOLDER.mkdir(parents=True, exist_ok=True)
    program = _FOLDER / "node_modules/azurite/dist/src/blob/main.js"
    with (_FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (_FOLDER / "installed").exists():
            command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", _FOLDER, _PACKAGE]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=_INSTALL_SECS
                )
            except subprocess.TimeoutExpired:
                pytest.skip(f"npm does not install {_PACKAGE} within {_INSTALL_SECS} s")
            if done.returncode:  # As for the packages of Debian: the machine lacks something.
                pytest.skip(f"npm cannot install {_PACKAGE}: {done.stderr[-500:]}")
            (_FOLDER / "installed").touch()
    return program


@contextlib.contextmanager
def serve_blobs(directory: Path) -> Iterator[AzureStore]:
    """Starts a server, yields it when it answers, and ends it.

    Args:
      directory: A new folder for its data and log.
    """
    with reserve_port() as port:
        yield from _run_server(port, directory)


def _run_server(port: int, directory: Path) -> Iterator[AzureStore]:
    command = ["node", _install(), "--blobHost", "127.0.0.1", "--blobPort", str(port),
               "--location", directory, "--disableTelemetry", "--skipApiVersionCheck",
               "--silent"]  # fmt: skip
    with (directory / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        store = AzureStore(f"127.0.0.1:{port}")
        deadline = time.monotonic() + _START_SECS
        while True:
            try:
                next(iter(store.client.list_containers()), None)
                break
            except azure.core.exceptions.AzureError:
                text = (directory / "log").read_text()[-2000:]
                assert server.poll() is None, f"Azurite ended: {text}"
                assert time.monotonic() < deadline, f"no answer within {_START_SECS} s: {text}"
                time.sleep(0.1)
        yield store
    finally:
        server.kill()
        server.wait()
