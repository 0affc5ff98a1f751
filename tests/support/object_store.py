"""A real server of the S3 protocol in a process of its own, on loopback: that of moto."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import botocore.exceptions
from botocore.config import Config

from estimator_train.launcher.network import ReservedAddresses

_START_SECS = 200


class ObjectStore:
    """A running server.

    Attributes:
      endpoint: Its address, as S3_ENDPOINT takes it.
      variables: Environment variables with which a process finds it.
      client: boto3's client.
    """

    def __init__(self, endpoint: str, has_tls: bool = False) -> None:
        self.endpoint = endpoint
        self.variables = {
            "S3_ENDPOINT": endpoint,
            "S3_USE_HTTPS": "1" if has_tls else "0",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=f"{'https' if has_tls else 'http'}://{endpoint}",
            verify=False,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
            config=Config(retries={"max_attempts": 1}),
        )

    def make_bucket(self) -> str:
        """Creates a bucket and returns its name."""
        name = f"bucket-{uuid.uuid4().hex[:12]}"
        self.client.create_bucket(Bucket=name)
        return name

    def list_keys(self, bucket: str, prefix: str = "") -> list[str]:
        """Returns the names of the objects, without those that mark directories."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        keys = [found["Key"] for page in pages for found in page.get("Contents", [])]
        return [key for key in keys if not key.endswith("/")]

    def read_latest_step(self, bucket: str, model_dir: str) -> int:
        """Returns the step of the checkpoint that the file `checkpoint` names; 0 without one."""
        key = f"{model_dir}/checkpoint"
        if key not in self.list_keys(bucket, key):
            return 0
        text = self.read(bucket, key).decode()
        (step,) = re.findall(r'^model_checkpoint_path: ".*-(\d+)"', text, re.MULTILINE)
        return int(step)

    def read(self, bucket: str, key: str) -> bytes:
        """Returns the content of an object."""
        return self.client.get_object(Bucket=bucket, Key=key)["Body"].read()


@contextlib.contextmanager
def reserve_port() -> Iterator[int]:
    """Yields a free port of loopback that no other process of the tests chooses."""
    reserved = ReservedAddresses(1)
    try:
        yield int(reserved.addresses[0].rpartition(":")[2])
    finally:
        reserved.release()


@contextlib.contextmanager
def serve_objects(certificate: Path | None = None) -> Iterator[ObjectStore]:
    """Starts a server, yields it when it answers, and ends it.

    Args:
      certificate: File with a certificate and its key: the server uses TLS.
    """
    with reserve_port() as port:
        yield from _run_server(port, certificate)


def _run_server(port: int, certificate: Path | None) -> Iterator[ObjectStore]:
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    if certificate:
        command += ["-s", "-c", str(certificate), "-k", str(certificate)]
    server = subprocess.Popen(
        command, env=dict(os.environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        store = ObjectStore(f"127.0.0.1:{port}", certificate is not None)
        deadline = time.monotonic() + _START_SECS
        while True:
            try:
                store.client.list_buckets()
                break
            except botocore.exceptions.BotoCoreError:
                assert server.poll() is None, f"the server ended with code {server.returncode}"
                assert time.monotonic() < deadline, f"no answer within {_START_SECS} s"
                time.sleep(0.1)
        yield store
    finally:
        server.kill()
        server.wait()
