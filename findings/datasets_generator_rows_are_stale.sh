#!/usr/bin/env bash
# datasets 5.2.0, Python 3.11.
#
# `Dataset.from_generator` keeps the rows on disk under a hash of the generator's code and variables.
# A generator that reads a file gives the rows of the first call forever: rows that the file has got
# since then are missing, in the same process and in later ones, without a message.
# `Dataset.from_csv` looks at the file's time and reads it again.
#
# Output seen (the file has 2 rows, then 3):
#   from_generator: [1, 2], then [1, 2]
#   from_csv: [1, 2], then [1, 2, 3]
#
# Pass `fingerprint=` or a changed `gen_kwargs`, such as the file's time, if the input may change.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/rows.py" <<'PYTHON'
import os
import sys

import datasets

os.chdir(sys.argv[1])
datasets.disable_progress_bars()


def read_rows():
    with open("rows.csv") as file:
        next(file)
        for line in file:
            yield {"x": int(line)}


generated, read = [], []
for count in (2, 3):
    with open("rows.csv", "w") as file:
        file.write("x\n" + "".join(f"{number + 1}\n" for number in range(count)))
    os.utime("rows.csv", (1_700_000_000 + count, 1_700_000_000 + count))
    generated.append(datasets.Dataset.from_generator(read_rows, cache_dir="cache")["x"][:])
    read.append(datasets.Dataset.from_csv("rows.csv", cache_dir="cache")["x"][:])
print(f"from_generator: {generated[0]}, then {generated[1]}")
print(f"from_csv: {read[0]}, then {read[1]}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datasets==5.2.0
HF_HOME="$folder/home" "$folder/venv/bin/python" "$folder/rows.py" "$folder" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
