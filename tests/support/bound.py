"""Runs a command that the system kills when its parent dies: `bound.py PARENT COMMAND...`.

PARENT is the process number of the parent. A process of a test that starts its own session would
otherwise outlive a test run that is killed.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def command(words: list[str]) -> list[str]:
    """Returns the command that runs `words` until this process dies."""
    return [sys.executable, "-IS", __file__, str(os.getpid()), *words]


def main() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    parent, *words = sys.argv[1:]
    if os.getppid() != int(parent):
        sys.exit("The parent of this process has ended.")
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
