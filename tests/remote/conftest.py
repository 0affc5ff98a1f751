"""Servers of remote file systems."""

import os

import faulty_proxy
import pytest


@pytest.fixture(scope="session")
def store():
    """Yields a server of the S3 protocol, which the environment names."""
    import object_store  # It needs boto3, which the first tier does not install.

    with object_store.serve_objects() as running, pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("AWS_", "S3_"))]:
            patch.delenv(name)
        for name, value in running.variables.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture
def bucket(store):
    """Returns a new bucket."""
    return store.make_bucket()


@pytest.fixture
def proxy(store):
    """Yields a proxy before the server, which passes all requests until a test says otherwise."""
    with faulty_proxy.serve_with_faults(store.endpoint) as running:
        yield running
