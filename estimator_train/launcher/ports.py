"""Finds free ports of this machine for servers that start later and restart after failures."""

import random
import socket

# Below the range of ports that systems use for outgoing connections: such a connection could take
# the port while a process restarts.
FIRST, LAST = 15000, 31999
_HOST = "127.0.0.1"
_ATTEMPTS = 1000


def find_free_addresses(count: int) -> list[str]:
    """Returns addresses, "host:port", at which nothing listens.

    Args:
      count: Number of addresses.

    Raises:
      OSError: No free ports were found.
    """
    # The sockets stay open until the last is found, so that the ports differ.
    sockets: list[socket.socket] = []
    try:
        for _ in range(_ATTEMPTS):
            if len(sockets) == count:
                break
            candidate = socket.socket()
            try:
                candidate.bind((_HOST, random.randint(FIRST, LAST)))
                sockets.append(candidate)
            except OSError:
                candidate.close()
        else:
            raise OSError(f"Found no {count} free ports from {FIRST} to {LAST} on {_HOST}.")
        return [f"{_HOST}:{opened.getsockname()[1]}" for opened in sockets]
    finally:
        for opened in sockets:
            opened.close()
