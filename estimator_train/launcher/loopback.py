"""Binds the servers of a launched cluster to the loopback interface, by `loopback.c`."""

import importlib.util
from collections.abc import Iterable, Mapping

# Built at installation if there is a C compiler. The dynamic linker loads it.
_LIBRARY = "_estimator_train_loopback"
_PORTS = "ESTIMATOR_TRAIN_LOOPBACK_PORTS"
_PRELOAD = "LD_PRELOAD"


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
