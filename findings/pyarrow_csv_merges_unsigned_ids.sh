#!/usr/bin/env bash
# pyarrow 26.0.1, pandas 3.1.1, duckdb 2.0.1 and datasets 5.2.0, Python 3.11.
#
# pyarrow's CSV reader infers int64 and then double, but never uint64: if a column of ids has one
# value of 2**63 or more, all of its ids become 64-bit floats, and ids that differ in the last digits
# become one. pandas gives two answers for the same file: exact ones with its own parser, and merged
# ones with `engine="pyarrow"`, which promises speed. DuckDB, too, is exact until `df()`.
#
# Output seen (three different ids):
#   pyarrow: double, 2 different ids
#   pandas: uint64, 3 different ids
#   pandas, engine pyarrow: float64, 2 different ids
#   duckdb: HUGEINT, 3 different ids
#   duckdb, df: float64, 2 different ids
#   datasets: uint64, 3 different ids
#
# Name the type: `ConvertOptions(column_types={"id": pa.uint64()})`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/ids.py" <<'PYTHON'
import os
import sys

import datasets
import duckdb
import pandas as pd
import pyarrow.csv

os.chdir(sys.argv[1])
datasets.disable_progress_bars()
with open("ids.csv", "w") as file:
    file.write("id\n18446744073709551557\n18446744073709551533\n5\n")


def show(name, kind, values):
    print(f"{name}: {kind}, {len(set(values))} different ids")


ids = pyarrow.csv.read_csv("ids.csv")["id"]
show("pyarrow", ids.type, ids.to_pylist())
for name, options in {"pandas": {}, "pandas, engine pyarrow": {"engine": "pyarrow"}}.items():
    ids = pd.read_csv("ids.csv", **options)["id"]
    show(name, ids.dtype, ids.tolist())
ids = duckdb.sql("from 'ids.csv'")
show("duckdb", ids.types[0], ids.fetchall())
show("duckdb, df", ids.df()["id"].dtype, ids.df()["id"].tolist())
ids = datasets.Dataset.from_csv("ids.csv", cache_dir="cache")
show("datasets", ids.features["id"].dtype, ids["id"][:])
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  pyarrow==26.0.1 pandas==3.1.1 duckdb==2.0.1 datasets==5.2.0
HF_HOME="$folder/home" "$folder/venv/bin/python" "$folder/ids.py" "$folder" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
