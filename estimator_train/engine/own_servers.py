"""Servers of this process, to tell sessions that run here from remote ones."""

_targets: set[str] = set()


def register_server(target: str) -> None:
    """Registers a server that was started in this process.

    Args:
      target: The address that sessions connect to.
    """
    _targets.add(target)


def runs_here(master: str | None) -> bool:
    """Returns whether a session's operations run in this process.

    Args:
      master: The address that the session connects to; empty or None for a local session.
    """
    return not master or master in _targets
