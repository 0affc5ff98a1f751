"""Client of a program in a fork: `python -IS fork_client.py ADDRESS PYTHON_ARGUMENT...`.

It passes its output, environment, working directory and signals to the program, and ends as the
program ends: with the same exit code or signal. If the client is killed, so is the program.
"""

import contextlib
import json
import os
import resource
import signal
import socket
import struct
import sys

PASSED_ON = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")


def main() -> int:
    address, *arguments = sys.argv[1:]
    server = socket.socket(socket.AF_UNIX)
    numbers = {getattr(signal, name) for name in PASSED_ON}
    # Those that come before the server listens are passed on after.
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    server.connect(address)
    job = {"arguments": arguments, "environment": dict(os.environ), "directory": os.getcwd()}
    text = json.dumps(job).encode()
    socket.send_fds(server, [struct.pack("=I", len(text))], [0, 1, 2])
    server.sendall(text)

    def pass_on(number, frame):
        with contextlib.suppress(OSError):  # The program has ended; its exit code is on its way.
            server.sendall(bytes([number]))

    for number in numbers:
        signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    answer = server.recv(4, socket.MSG_WAITALL)
    # A signal after the program's end must not change the exit code.
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    if len(answer) < 4:
        sys.exit("The server of forks is gone.")
    (code,) = struct.unpack("=i", answer)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main())
