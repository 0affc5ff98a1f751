"""Runs a program on a kernel that refuses locks of files, as some network file systems do.

    python without_locks.py PYTHON job.py model_dir

A filter of system calls (seccomp, Linux) makes flock and the locks of fcntl fail with ENOLCK, for
the program and its children, on every file system.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

# The numbers of the system calls flock and fcntl, and of the commands of fcntl that lock.
CALLS = {"x86_64": (73, 72), "aarch64": (32, 25)}
LOCKS = (6, 7, 37, 38)
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000 | errno.ENOLCK
# struct seccomp_data: the number of the call at 0, its second argument at 24.
NUMBER, SECOND = 0, 24


def build_filter() -> bytes:
    """Returns the filter as instructions of BPF: code, jump if true, jump if false, value."""
    flock, fcntl = CALLS[platform.machine()]
    end = 3 + len(LOCKS)
    program = [
        (LOAD, 0, 0, NUMBER),
        (EQUAL, end, 0, flock),
        (EQUAL, 0, len(LOCKS) + 1, fcntl),
        (LOAD, 0, 0, SECOND),
        *((EQUAL, len(LOCKS) - number, 0, lock) for number, lock in enumerate(LOCKS)),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, FAIL),
    ]
    return b"".join(struct.pack("HBBI", *line) for line in program)


def install() -> None:
    """Installs the filter in this process."""
    code = ctypes.create_string_buffer(build_filter())
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, filter_mode = 38, 22, 2
    for arguments in ((no_new_privileges, 1, 0, 0, 0), (seccomp, filter_mode, program, 0, 0)):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl does not install the filter")


if __name__ == "__main__":
    install()
    os.execvp(sys.argv[1], sys.argv[1:])
