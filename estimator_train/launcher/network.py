"""Addresses of the servers of a job on this machine: free ports, on the loopback interface alone.

The servers start later and restart after failures. `loopback.c` binds them to the interface. They
listen on all interfaces without it, and have no passwords: any process that can connect to one can
run operations in it. A private network, a network namespace of Linux, excludes all processes
outside of the job.
"""

import contextlib
import ctypes
import errno
import fcntl
import importlib.util
import os
import random
import socket
import struct
import sys
from collections.abc import Iterable, Mapping

# Below the range of ports that systems use for outgoing connections: such a connection could take
# the port while a process restarts.
FIRST, LAST = 15000, 31999
_HOST = "127.0.0.1"
_ATTEMPTS = 1000
# Built at installation if there is a C compiler. The dynamic linker loads it.
_LIBRARY = "_estimator_train_loopback"
_PORTS = "ESTIMATOR_TRAIN_LOOPBACK_PORTS"
_PRELOAD = "LD_PRELOAD"
# From linux/sched.h, linux/sockios.h and linux/if.h.
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP, _IFF_RUNNING = 0x1, 0x40


class ReservedAddresses:
    """Free addresses, "host:port", that no other process of this package chooses until a release.

    On Linux a Unix socket whose name has the port reserves it; the port itself stays free, so that
    any server may bind it.

    Args:
      count: Number of addresses.

    Attributes:
      addresses: The addresses.

    Raises:
      OSError: No free ports were found.
    """

    def __init__(self, count: int) -> None:
        self._names: list[socket.socket] = []
        with contextlib.ExitStack() as bound:  # All of them at a time: they must differ.
            ports: list[int] = []
            for _ in range(_ATTEMPTS):
                if len(ports) == count:
                    break
                port = random.randint(FIRST, LAST)
                with contextlib.suppress(OSError):
                    self._reserve(port)
                    bound.enter_context(socket.socket()).bind((_HOST, port))
                    ports.append(port)
            else:
                self.release()
                raise OSError(f"Found no {count} free ports from {FIRST} to {LAST} on {_HOST}.")
        self.addresses = [f"{_HOST}:{port}" for port in ports]

    def release(self) -> None:
        """Lets others choose these ports."""
        for name in self._names:
            name.close()

    def _reserve(self, port: int) -> None:
        """Reserves a port; raises OSError if it is reserved."""
        if sys.platform == "linux":  # Elsewhere a Unix socket is a file, which outlives a kill.
            self._names.append(socket.socket(socket.AF_UNIX))
            self._names[-1].bind(f"\0estimator_train/port/{port}")


def find_free_addresses(count: int) -> list[str]:
    """Returns addresses, "host:port", at which nothing listens.

    Args:
      count: Number of addresses.

    Raises:
      OSError: No free ports were found.
    """
    found = ReservedAddresses(count)
    found.release()
    return found.addresses


def make_loopback_variables(
    addresses: Iterable[str], environment: Mapping[str, str]
) -> dict[str, str] | None:
    """Returns environment variables that bind servers to loopback instead of all interfaces.

    Args:
      addresses: The addresses of the servers, "host:port".
      environment: The other environment variables of the processes.

    Returns:
      None if the library is missing: on systems other than Linux, without a C compiler at
      installation, or at a path that `LD_PRELOAD` cannot name.
    """
    found = importlib.util.find_spec(_LIBRARY)
    path = found.origin if found else None
    if not path or " " in path or ":" in path:
        return None
    before = environment.get(_PRELOAD)
    return {
        _PRELOAD: f"{path}:{before}" if before else path,
        _PORTS: ",".join(address.rpartition(":")[2] for address in addresses),
    }


def enter_private_network() -> None:
    """Moves this process and its future child processes to a network that has only loopback.

    Raises:
      OSError: The system does not support or does not allow network namespaces.
    """
    user, group = os.getuid(), os.getgid()
    try:
        _unshare(_CLONE_NEWNET)
    except PermissionError:
        # Users other than root may create a network namespace within a user namespace.
        _unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        _write("setgroups", "deny")
        _write("uid_map", f"{user} {user} 1")
        _write("gid_map", f"{group} {group} 1")
    with socket.socket() as any_socket:
        flags = struct.pack("16sh14x", b"lo", _IFF_UP | _IFF_RUNNING)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, flags)


def _unshare(namespaces: int) -> None:
    function = getattr(ctypes.CDLL(None, use_errno=True), "unshare", None)
    if function is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if function(namespaces):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _write(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
        file.write(text)
