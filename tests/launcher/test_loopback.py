"""Servers of a launched cluster are reached from this machine alone."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from launched import ROOT, launched
from processes import run_process

from estimator_train.launcher import network
from estimator_train.launcher.network import ReservedAddresses

# Not by a fork: the linker loads the library as a program starts.
LISTENING = Path(__file__).with_name("listening.py")
# Where there is no C compiler, the package is installed without it.
HAS_LIBRARY = importlib.util.find_spec("_estimator_train_loopback") is not None


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


FAMILIES = ("AF_INET", "AF_INET6") if has_ipv6() else ("AF_INET",)
# As the kernel writes them: 127.0.0.1 as an address of IPv4 and of IPv6.
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}
# Binds a socket of a family to an address, as a server does, and prints the one that it has then.
BINDS = """
import json, socket, sys
family, host, port, v6_only = json.loads(sys.argv[1])
with socket.socket(getattr(socket, family)) as one:
    if family == "AF_INET6":
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, v6_only)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind((host, port))
    print(json.dumps(one.getsockname()[:2]))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "flag"),
    [("async", "--ps=1"), ("sync", "--workers=1")],
)
def test_servers_listen_only_on_loopback(tmp_path: Path, kind: str, flag: str) -> None:
    done = launched([flag], [sys.executable, str(LISTENING), kind, str(tmp_path)])
    assert done.code == 0, done.text
    looks = [line for line in done.lines("chief:0") if line.startswith("[")]
    addresses = [json.loads(line.replace("'", '"')) for line in looks]
    assert len(addresses) == 3
    if HAS_LIBRARY:
        assert all(one and set(one) <= LOOPBACK for one in addresses), done.text
    else:
        assert all(one for one in addresses), done.text


def bound(
    family: str, host: str, port: int, v6_only: bool = False, *, cluster_port: int
) -> list[object]:
    """Returns the address of a socket that a process of a cluster binds to the given address."""
    asked = json.dumps([family, host, port, v6_only])
    addresses = ["127.0.0.1:15001", f"127.0.0.1:{cluster_port}"]
    environment = {**os.environ, **(network.make_loopback_variables(addresses, {}) or {})}
    done = run_process([sys.executable, "-c", BINDS, asked], env=environment)
    return list(json.loads(done.stdout))


@pytest.fixture
def ports() -> Iterator[list[int]]:
    """Yields two ports that nothing else uses."""
    reserved = ReservedAddresses(2)
    yield [int(address.rpartition(":")[2]) for address in reserved.addresses]
    reserved.release()


BOUND = [
    ("AF_INET", "0.0.0.0", False, "127.0.0.1"),
    ("AF_INET6", "::", False, "::ffff:127.0.0.1"),
    ("AF_INET6", "::ffff:0.0.0.0", False, "::ffff:127.0.0.1"),
    ("AF_INET6", "::", True, "::1"),
    ("AF_INET", "127.0.0.2", False, "127.0.0.2"),
    ("AF_INET6", "::1", False, "::1"),
]


@pytest.mark.parametrize(
    ("family", "asked", "v6_only", "given"), [row for row in BOUND if row[0] in FAMILIES]
)
def test_ports_of_the_cluster_are_bound_to_loopback(
    family: str, asked: str, v6_only: bool, given: str, ports: list[int]
) -> None:
    port, _ = ports
    found = bound(family, asked, port, v6_only, cluster_port=port)
    assert found == [given if HAS_LIBRARY else asked, port]


@pytest.mark.parametrize("family", FAMILIES)
def test_other_ports_are_not_rebound(family: str, ports: list[int]) -> None:
    everywhere = {"AF_INET": "0.0.0.0", "AF_INET6": "::"}[family]
    port, other = ports
    assert bound(family, everywhere, other, cluster_port=port) == [everywhere, other]
    assert bound(family, everywhere, 0, cluster_port=port)[0] == everywhere


def test_earlier_preloaded_libraries_are_kept() -> None:
    library = importlib.util.find_spec("_estimator_train_loopback")
    found = network.make_loopback_variables(["a:1", "b:2"], {"LD_PRELOAD": "/lib/other.so"})
    assert found == (
        library
        and {
            "LD_PRELOAD": f"{library.origin}:/lib/other.so",
            "ESTIMATOR_TRAIN_LOOPBACK_PORTS": "1,2",
        }
    )


def test_launcher_warns_without_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A library that the linker cannot be told of, found before the one that is installed.
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "_estimator_train_loopback.py").touch()
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{ROOT}")
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    look = [sys.executable, "-c", "import os; print(os.environ.get('LD_PRELOAD'))"]
    command = [sys.executable, "-m", "estimator_train", "launch", "--workers=1", "--", *look]
    done = run_process(command, cwd=tmp_path)
    # No warning if loopback is the only interface.
    warned = "[launch] The servers of this cluster listen on all interfaces" in done.stdout
    assert warned is (len(socket.if_nameindex()) > 1)
    assert "[chief:0] None" in done.stdout
