"""A launched cluster in a private network."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
from pathlib import Path

from launched import launched

LOOKS_AROUND = """
import json, os, socket, sys

print(json.dumps([name for _, name in socket.if_nameindex()]))
with socket.socket() as outside:
    print("outside", outside.connect_ex(("127.0.0.1", int(sys.argv[1]))))
task = json.loads(os.environ["TF_CONFIG"])
own = task["cluster"][task["task"]["type"]][0].rpartition(":")
with socket.create_server((own[0], int(own[2]))) as server:
    with socket.create_connection(server.getsockname()):
        print("inside reached")
open(sys.argv[2], "a").close()
"""
# Asked without the package: a network namespace, or one with a user namespace (linux/sched.h).
MAY_ENTER = """
import ctypes
unshare = ctypes.CDLL(None).unshare
raise SystemExit(unshare(0x40000000) and unshare(0x50000000))
"""


def test_a_private_network_has_no_route_outside_and_files_keep_their_owner(tmp_path: Path) -> None:
    allowed = subprocess.run([sys.executable, "-c", MAY_ENTER], stderr=subprocess.DEVNULL)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        program = [sys.executable, "-c", LOOKS_AROUND, port, str(tmp_path / "file")]
        done = launched(["--private_network", "--workers=1"], program)
    if allowed.returncode:
        assert done.code == 2
        assert "--private_network: this system allows no network of its own" in done.text
        return
    assert done.code == 0, done.text
    for task in ("chief:0", "worker:0"):
        assert done.lines(task) == ['["lo"]', f"outside {errno.ECONNREFUSED}", "inside reached"]
    assert (tmp_path / "file").stat().st_uid == tmp_path.stat().st_uid
