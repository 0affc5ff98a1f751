"""Which sessions run in this process: those of no address, and those of servers started here."""

_targets: set[str] = set()


def note_started(target: str) -> None:
    """Notes that a server was started in this process.

    Args:
      target: The address that sessions connect to.
    """
    _targets.add(target)


def runs_here(master: str | None) -> bool:
    """Whether the operations on this task's devices run in this process.

    Args:
      master: The address that a session connects to, or nothing.
    """
    return not master or master in _targets
