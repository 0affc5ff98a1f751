"""Free ports of this machine for servers that are started later, and again after a failure."""

import random
import socket

# Below the range from which systems take the ports of outgoing connections, so that none of these
# is taken while a process restarts.
FIRST, LAST = 15000, 31999
_HOST = "127.0.0.1"
_ATTEMPTS = 1000


def free_addresses(count: int) -> list[str]:
    """Returns addresses, "host:port", at which nothing listens.

    Args:
      count: How many.

    Raises:
      OSError: No free ports were found.
    """
    # All are held until the last is found, so that they differ.
    held: list[socket.socket] = []
    try:
        for _ in range(_ATTEMPTS):
            if len(held) == count:
                break
            candidate = socket.socket()
            try:
                candidate.bind((_HOST, random.randint(FIRST, LAST)))
                held.append(candidate)
            except OSError:
                candidate.close()
        else:
            raise OSError(f"Found no {count} free ports from {FIRST} to {LAST} on {_HOST}.")
        return [f"{_HOST}:{one.getsockname()[1]}" for one in held]
    finally:
        for one in held:
            one.close()
