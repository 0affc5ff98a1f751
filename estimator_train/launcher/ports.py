"""Finds free ports of this machine for servers that start later and restart after failures."""

import collections
import errno
import random
import socket

# Below the range of ports that systems use for outgoing connections: such a connection could take
# the port while a process restarts.
FIRST, LAST = 15000, 31999
_HOST = "127.0.0.1"
_ATTEMPTS = 1000
# The file descriptors that reservations take of a process that starts job after job.
_MAX_RESERVED = 64
# The reservations of this process, the oldest first.
_reserved: collections.deque[socket.socket] = collections.deque()


def find_free_addresses(count: int) -> list[str]:
    """Returns addresses, "host:port", at which nothing listens.

    No other process that calls this function gets them: on Linux they are reserved until this
    process ends, or has reserved 64 later ones.

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
            port = random.randint(FIRST, LAST)
            try:
                candidate.bind((_HOST, port))
                _reserve(port)
                sockets.append(candidate)
            except OSError:
                candidate.close()
        else:
            raise OSError(f"Found no {count} free ports from {FIRST} to {LAST} on {_HOST}.")
        return [f"{_HOST}:{opened.getsockname()[1]}" for opened in sockets]
    finally:
        for opened in sockets:
            opened.close()


def _reserve(port: int) -> None:
    """Reserves a port by a socket of that name, which the system closes with this process.

    Raises:
      OSError: The port is reserved.
    """
    reservation = socket.socket(socket.AF_UNIX)
    try:
        reservation.bind(f"\0estimator_train/port/{port}")  # Linux alone has such names.
    except (OSError, ValueError) as error:
        reservation.close()
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise
        return
    _reserved.append(reservation)
    if len(_reserved) > _MAX_RESERVED:
        _reserved.popleft().close()
