"""Schemes of paths, the drivers of fsspec that serve them, and the packages of the drivers."""

import dataclasses
import importlib.util
import os
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Driver:
    """A file system of fsspec.

    Attributes:
      protocol: Its name in fsspec.
      module: The module that must be installed.
      package: The package to install, for error messages.
      is_object_store: Whether an object appears when it is closed, and cannot be renamed.
      has_streams: Whether a flushed write is visible before the file is closed.
      is_serial: Whether its calls must follow one another: two threads would take each other's
        answers.
      is_read_only: Whether it only reads.
    """

    protocol: str
    module: str
    package: str
    is_object_store: bool = False
    has_streams: bool = False
    is_serial: bool = False
    is_read_only: bool = False


_S3 = Driver("s3", "s3fs", "estimator-train[s3]", is_object_store=True)
_AZURE = Driver("abfs", "adlfs", "estimator-train[azure]", is_object_store=True)
_HDFS = Driver("hdfs", "pyarrow", "estimator-train[hdfs]", has_streams=True)
_SFTP = Driver("sftp", "paramiko", "paramiko", has_streams=True, is_serial=True)
_HTTP = Driver("http", "aiohttp", "fsspec[http]", is_read_only=True)

# The drivers that an import registers if they are installed: those of old TensorFlow and Hadoop.
DRIVERS = {
    "s3": _S3,
    "s3a": _S3,
    "s3n": _S3,
    "az": _AZURE,
    "abfs": _AZURE,
    "abfss": _AZURE,
    "wasb": _AZURE,
    "wasbs": _AZURE,
    "hdfs": _HDFS,
    "viewfs": _HDFS,
}
_OTHERS = {
    "gcs": Driver("gcs", "gcsfs", "gcsfs", is_object_store=True),
    "http": _HTTP,
    "https": dataclasses.replace(_HTTP, protocol="https"),
    "memory": Driver("memory", "fsspec", "estimator-train[remote]"),
    "sftp": _SFTP,
    "ssh": _SFTP,
    "webhdfs": Driver("webhdfs", "requests", "requests"),
}

# Other processes change the store.
_NO_CACHE = {"use_listings_cache": False}


def find_driver(scheme: str) -> Driver | None:
    """Returns the driver of a scheme, or None if fsspec knows no such scheme.

    Raises:
      ImportError: fsspec is not installed.
    """
    known = DRIVERS.get(scheme) or _OTHERS.get(scheme)
    if known:
        return known
    import fsspec

    if scheme not in fsspec.available_protocols():
        return None
    return Driver(scheme, "fsspec", f"the fsspec driver of {scheme}")


def is_installed(driver: Driver) -> bool:
    """Returns whether fsspec and the module of a driver are installed."""
    return all(importlib.util.find_spec(name) for name in ("fsspec", driver.module))


def make_options(driver: Driver, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Returns the options that the environment sets for a driver.

    The variables of S3 are those of TensorFlow 2.5 and earlier. Drivers find credentials
    themselves.

    Args:
      driver: The driver.
      environment: The environment variables.
    """
    if driver.protocol == "s3":
        return _make_s3_options(environment)
    if driver.protocol == "abfs":
        # adlfs is anonymous by default if it has only the name of an account.
        anonymous = {} if environment.get("AZURE_STORAGE_ANON") else {"anon": False}
        return {**_NO_CACHE, **anonymous}
    return {}


def _make_s3_options(environment: Mapping[str, str]) -> dict[str, Any]:
    uses_https = environment.get("S3_USE_HTTPS", "1") not in ("0", "false")
    client: dict[str, Any] = {}
    endpoint = environment.get("S3_ENDPOINT")
    if endpoint and "://" not in endpoint:
        endpoint = f"{'https' if uses_https else 'http'}://{endpoint}"
    region = environment.get("AWS_REGION") or environment.get("S3_REGION")
    if region:
        client["region_name"] = region
    if environment.get("S3_VERIFY_SSL", "1") in ("0", "false"):
        client["verify"] = False
    elif environment.get("S3_CA_FILE"):
        client["verify"] = environment["S3_CA_FILE"]
    config: dict[str, Any] = {
        "connect_timeout": _read_seconds(environment, "S3_CONNECT_TIMEOUT_MSEC", 10.0),
        "read_timeout": _read_seconds(environment, "S3_REQUEST_TIMEOUT_MSEC", 60.0),
        "max_pool_connections": 64,
        "retries": {"max_attempts": 3, "mode": "standard"},
    }
    options: dict[str, Any] = {
        **_NO_CACHE,
        "use_ssl": uses_https,
        "client_kwargs": client,
        "config_kwargs": config,
    }
    endpoint = (
        endpoint or environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    )
    return {**options, "endpoint_url": endpoint} if endpoint else options


def _read_seconds(environment: Mapping[str, str], name: str, default: float) -> float:
    return float(environment[name]) / 1000 if environment.get(name) else default
