"""A real server of SFTP in a thread, on loopback: that of asyncssh."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import asyncssh

USER, PASSWORD = "user", "secret"


class _PasswordServer(asyncssh.SSHServer):
    """Server that knows one user."""

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)


@contextlib.contextmanager
def serve_files(root: Path) -> Iterator[int]:
    """Starts a server, yields its port, and ends it.

    Args:
      root: The directory that it serves as /.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(
            _PasswordServer,
            "127.0.0.1",
            0,
            server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(root)),
        )

    server = asyncio.run_coroutine_threadsafe(start(), loop).result(60)
    try:
        yield server.get_port()
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
