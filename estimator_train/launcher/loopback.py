"""Servers of a launched cluster listen on the loopback interface alone (`loopback.c`)."""

import importlib.util
from collections.abc import Iterable, Mapping

# Built at installation where there is a C compiler; it is loaded by the linker, not imported.
_LIBRARY = "_estimator_train_loopback"
_PORTS = "ESTIMATOR_TRAIN_LOOPBACK_PORTS"
_PRELOAD = "LD_PRELOAD"


def variables(addresses: Iterable[str], environment: Mapping[str, str]) -> dict[str, str] | None:
    """The variables of processes whose servers get loopback where they ask for all interfaces.

    Args:
      addresses: The addresses of these servers, "host:port".
      environment: The variables that the processes have so far.

    Returns:
      None where the library is not there: on systems other than Linux, without a C compiler at
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
