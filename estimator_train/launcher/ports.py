"""Finds free ports of this machine for servers that start later and restart after failures."""

import contextlib
import random
import socket
import sys

# Below the range of ports that systems use for outgoing connections: such a connection could take
# the port while a process restarts.
FIRST, LAST = 15000, 31999
_HOST = "127.0.0.1"
_ATTEMPTS = 1000


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
