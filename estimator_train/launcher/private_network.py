"""Moves a job to a private network that has only a loopback interface.

TensorFlow's servers listen on all interfaces and have no passwords: any process that can connect to
one can run operations in it. A network namespace (Linux) excludes all processes outside of the job.
"""

import ctypes
import errno
import fcntl
import os
import socket
import struct

# From linux/sched.h, linux/sockios.h and linux/if.h.
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP, _IFF_RUNNING = 0x1, 0x40


def enter() -> None:
    """Moves this process and its future child processes to a new network namespace.

    Raises:
      OSError: The system does not support or does not allow network namespaces.
    """
    user, group = os.getuid(), os.getgid()
    try:
        _unshare(_CLONE_NEWNET)
    except PermissionError:
        # Users other than root may create a network namespace within a user namespace.
        _unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        _write("setgroups", "deny")
        _write("uid_map", f"{user} {user} 1")
        _write("gid_map", f"{group} {group} 1")
    with socket.socket() as any_socket:
        flags = struct.pack("16sh14x", b"lo", _IFF_UP | _IFF_RUNNING)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, flags)


def _unshare(namespaces: int) -> None:
    function = getattr(ctypes.CDLL(None, use_errno=True), "unshare", None)
    if function is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if function(namespaces):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _write(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
        file.write(text)
