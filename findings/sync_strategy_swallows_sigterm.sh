#!/usr/bin/env bash
# A process that creates a tf.distribute.MultiWorkerMirroredStrategy for two workers no longer ends
# at SIGTERM, although Python still reports the default handler for the signal.
#
# Seen with tensorflow 2.21.0, Python 3.11, Linux, x86-64, on CPUs. TensorFlow's preemption notifier
# installs a C++ handler, which logs "SIGTERM caught" and neither ends the process nor calls the
# handler that was there before: a handler that the program installed before the strategy is not
# called either, one that it installs afterwards is.
#
#   handler of the program: before the strategy, SIGTERM: not called, process alive
#   handler of the program: none,                SIGTERM: process alive, signal.getsignal: SIG_DFL
#   handler of the program: after the strategy,  SIGTERM: called
#
# A scheduler that sends SIGTERM therefore waits for its whole grace time, and a framework that has
# its own handler (as the workers of Ray have) does not notice the signal. Handlers belong after the
# strategy.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tensorflow==2.21.0

cat > "$folder/worker.py" << 'PYTHON'
import json
import os
import signal
import sys
import time

index, when, ports = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
cluster = {"worker": [f"localhost:{port}" for port in ports]}
os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

calls = []
if when == "before":
    signal.signal(signal.SIGTERM, lambda number, frame: calls.append(number))
strategy = tf.distribute.MultiWorkerMirroredStrategy()
if when == "after":
    signal.signal(signal.SIGTERM, lambda number, frame: calls.append(number))
handler = signal.getsignal(signal.SIGTERM)
if index == 0:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)
    shown = "default" if handler is signal.SIG_DFL else "own"
    print(when, "handler:", shown, "calls:", len(calls), "alive", flush=True)
    open("done", "w").close()
while not os.path.exists("done"):  # The other worker stays until the first has printed.
    time.sleep(0.1)
os._exit(0)
PYTHON

check() {
    local ports output
    cd "$folder"
    rm -f done
    ports=$(python3.11 -c 'import socket
found = [socket.socket() for _ in range(2)]
[one.bind(("localhost", 0)) for one in found]
print(*(one.getsockname()[1] for one in found))')
    # shellcheck disable=SC2086
    "$folder/venv/bin/python" worker.py 1 "$1" $ports > /dev/null 2>&1 &
    # shellcheck disable=SC2086
    output=$("$folder/venv/bin/python" worker.py 0 "$1" $ports 2> errors) || output="ended with $?"
    touch done
    wait
    printf '%s\n' "$output"
    if [ "$output" != "$1 $2" ]; then
        printf 'changed; expected:\n%s\n' "$1 $2"
        exit 1
    fi
}

check none "handler: default calls: 0 alive"
check before "handler: own calls: 0 alive"
check after "handler: own calls: 1 alive"
