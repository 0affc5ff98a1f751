#!/usr/bin/env bash
# duckdb 2.0.1, pyarrow 26.0.1 and polars 2.1.0, Python 3.11.
#
# DuckDB takes the types of several Parquet files from the first one, in the order of their names,
# and casts the columns of the others. Doubles of a later file are rounded to integers without a
# warning if the column of the first file has integers, as in a table whose first day had none but
# whole prices. The result depends on the names of the files. pyarrow and polars raise an error for
# the same files. `union_by_name=true` reads them as doubles.
#
# Output seen (the file "ints" holds 1 and 2, the file "doubles" holds 0.4 and 2.5):
#   ints are first: duckdb [1, 2, 0, 2], union_by_name [1.0, 2.0, 0.4, 2.5], pyarrow ArrowInvalid, polars SchemaError
#   doubles are first: duckdb [0.4, 2.5, 1.0, 2.0], union_by_name [0.4, 2.5, 1.0, 2.0], pyarrow [0.4, 2.5, 1.0, 2.0], polars SchemaError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/files.py" <<'PYTHON'
import os
import sys

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

TABLES = {"ints": pa.array([1, 2]), "doubles": pa.array([0.4, 2.5])}


def attempt(read):
    try:
        return read()
    except Exception as error:
        return type(error).__name__


for first, last in (("ints", "doubles"), ("doubles", "ints")):
    folder = os.path.join(sys.argv[1], first)
    os.mkdir(folder)
    for number, name in enumerate((first, last)):
        pq.write_table(pa.table({"x": TABLES[name]}), f"{folder}/{number}.parquet")
    files = f"'{folder}/*.parquet'"
    seen = {
        "duckdb": lambda: [row[0] for row in duckdb.sql(f"from read_parquet({files})").fetchall()],
        "union_by_name": lambda: [
            row[0]
            for row in duckdb.sql(f"from read_parquet({files}, union_by_name=true)").fetchall()
        ],
        "pyarrow": lambda: pa.dataset.dataset(folder).to_table()["x"].to_pylist(),
        "polars": lambda: pl.read_parquet(f"{folder}/*.parquet")["x"].to_list(),
    }
    print(f"{first} are first:", ", ".join(f"{name} {attempt(read)}" for name, read in seen.items()))
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1 pyarrow==26.0.1 polars==2.1.0
"$folder/venv/bin/python" "$folder/files.py" "$folder" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
