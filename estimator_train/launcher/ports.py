"""Finds free ports of this machine for servers that start later and restart after failures."""

import random
import socket

# Below the range of ports that systems use for outgoing connections: such a connection could take
# the port while a process restarts.
FIRST, LAST = 15000, 31999
_HOST = "127.0.0.1"
_ATTEMPTS = 1000


class ReservedAddresses:
    """Addresses, "host:port", that no other job on this machine chooses until they are released.

    A bound socket that does not listen holds each port. A server that sets SO_REUSEADDR, as those
    of TensorFlow and of Python's library do, may listen there; a search for free ports fails.

    Args:
      count: Number of addresses.

    Attributes:
      addresses: The addresses.

    Raises:
      OSError: No free ports were found.
    """

    def __init__(self, count: int) -> None:
        self._sockets: list[socket.socket] = []
        for _ in range(_ATTEMPTS):
            if len(self._sockets) == count:
                break
            candidate = socket.socket()
            try:
                candidate.bind((_HOST, random.randint(FIRST, LAST)))
                # Not earlier: two searches could bind the same port.
                candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                self._sockets.append(candidate)
            except OSError:
                candidate.close()
        else:
            self.release()
            raise OSError(f"Found no {count} free ports from {FIRST} to {LAST} on {_HOST}.")
        self.addresses = [f"{_HOST}:{opened.getsockname()[1]}" for opened in self._sockets]

    def release(self) -> None:
        """Lets other jobs choose these ports."""
        for opened in self._sockets:
            opened.close()


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
