"""Runs programs in processes of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def run_process(
    command: Sequence[Any],
    *,
    exit_code: int | None = 0,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 1000,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, and returns its process with the output as texts.

    Args:
      command: The program and its arguments.
      exit_code: The code with which it must end; None: any.
      cwd: Its working directory.
      env: Its environment; by default that of this process.
      timeout: Limit of its time, in seconds.
      **variables: Further variables of its environment.
    """
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env={**(os.environ if env is None else env), **variables},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    output = f"{done.stdout[-3000:]}\n{done.stderr[-5000:]}"
    assert exit_code in (None, done.returncode), f"exit code {done.returncode}\n{output}"
    return done
