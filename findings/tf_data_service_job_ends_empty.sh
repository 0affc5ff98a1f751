#!/usr/bin/env bash
# tensorflow 2.21.0, Python 3.11.
#
# Consumers of the tf.data service share a job by its name. A dataset that is made under the name of a
# job that has ended has no rows: a program that builds its input again, for the next call of `fit` or
# after a restart, reads an empty dataset instead of an error, and a loop over it trains nothing. The
# dataset of the first time may be read again and has all rows, because each reading is another round
# of its job.
#
# Output seen (a range of 4; one dispatcher and one worker in the process):
#   one dataset, read three times: [0, 1, 2, 3] [0, 1, 2, 3] [0, 1, 2, 3]
#   made three times: [0, 1, 2, 3] [] []
#   made three times, without a name: [0, 1, 2, 3] [0, 1, 2, 3] [0, 1, 2, 3]
#
# Put the number of the call and of the attempt into the name.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import tensorflow as tf

service = tf.data.experimental.service
dispatcher = service.DispatchServer()
address = dispatcher.target.split("://")[1]
worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))


def make(name):
    job = service.distribute("parallel_epochs", dispatcher.target, job_name=name)
    return tf.data.Dataset.range(4).apply(job)


def show(title, datasets):
    print(f"{title}:", *[[int(row) for row in dataset] for dataset in datasets])


dataset = make("first")
show("one dataset, read three times", [dataset, dataset, dataset])
show("made three times", [make("second") for _ in range(3)])
show("made three times, without a name", [make(None) for _ in range(3)])
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" 2> /dev/null \
  | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
